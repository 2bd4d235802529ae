# What the events of `swift test` say (version 0, a JSON object a line).

def payloads: inputs | select(.kind == "event") | .payload;

# Target.Suite/name(), without the place in the source.
def name: .testID | sub("/[^/]*\\.swift:[0-9:]+$"; "");

# Failures, without those that a test expects.
def issues: payloads | select(.kind == "issueRecorded" and (.issue.isKnown | not));

# The names of the tests that failed.
def failed: [issues | name] | unique[];

# What went wrong, a few lines a failure.
def failures:
  limit(60;
    issues | name, (.messages[].text | gsub("\n"; "\n    ") | "    " + .[0:400]));

# One line for each suite and reason. Skipped suites name each of their tests, too.
def skipped:
  [payloads | select(.kind == "testSkipped" and (.testID | test("/")))]
  | "\n\(length) tests were skipped.",
    (group_by([(.testID | sub("/.*"; "")), ._comments[0]])[]
      | "\(length) \(.[0].testID | sub("/.*"; "")): \(.[0]._comments[0])");
