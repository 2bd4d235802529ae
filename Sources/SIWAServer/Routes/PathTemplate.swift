internal import SIWAJOSE

/// A path whose segments are fixed or stand for a value, such as `/v1/users/{user_id}`.
struct PathTemplate: Hashable, Sendable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    private enum Segment: Hashable {
        case fixed(String)
        case value(String)
    }

    /// The template as written, such as `/v1/users/{user_id}`.
    let description: String
    /// Whether no segment stands for a value.
    let isFixed: Bool
    private let segments: [Segment]

    /// Reads a template.
    init(_ text: String) {
        description = text
        let segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map
        {
            $0.first == "{" && $0.last == "}"
                ? Segment.value(String($0.dropFirst().dropLast())) : .fixed(String($0))
        }
        self.segments = segments
        isFixed = segments.allSatisfy { if case .fixed = $0 { true } else { false } }
    }

    /// Reads a template.
    init(stringLiteral value: String) { self.init(value) }

    /// Returns the values of a path; nil if it does not match. Values are never empty.
    func values(of path: [String]) -> [String: String]? {
        guard path.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (segment, text) in zip(segments, path) {
            switch segment {
            case .fixed(let fixed): guard fixed.isExactly(text) else { return nil }
            case .value(let name):
                guard !text.isEmpty else { return nil }
                values[name] = text
            }
        }
        return values
    }
}
