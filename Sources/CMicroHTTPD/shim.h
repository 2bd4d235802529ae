// GNU libmicrohttpd.
#pragma once

#include <microhttpd.h>
