// Nothing to import: mutex.c replaces functions of the Swift library.
#pragma once
