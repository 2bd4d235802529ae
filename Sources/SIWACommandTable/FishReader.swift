/// The part of the fish script that is the same for every tool except for `NAME`.
enum FishReader {
    static let script = [place, secret].joined(separator: "\n\n")

    private static let place = #"""
        # Whether the words before the cursor are $argv[1], followed by $argv[2] operands: a number,
        # a number and '+' for that many or more, or nothing when any number will do.
        function NAME_at
            set -l node
            set -l option
            set -l ended
            set -g NAME_operands
            set -l valued (NAME_valued)
            for word in (commandline -opc)[2..]
                if set -q option[1]
                    set option
                else if not set -q ended[1]; and test "$word" = --
                    set ended 1
                else if not set -q ended[1]; and string match -q -- '-?*' "$word"
                    if contains -- "$word" $valued
                        set option 1
                    end
                else if not set -q ended[1]; and not set -q NAME_operands[1]
                    and NAME_next $node | string match -q -- "$word"\t'*'
                    set -a node "$word"
                    set valued (NAME_valued $node)
                else
                    set -a NAME_operands "$word"
                end
            end
            set -l count (count $NAME_operands)
            test "$node" = "$argv[1]"; or return 1
            switch "$argv[2]"
                case ''
                    not set -q ended[1]
                case '*+'
                    test $count -ge (string trim -c + $argv[2])
                case '*'
                    test $count -eq $argv[2]
            end
        end
        """#

    private static let secret = #"""
        # After an '@', the files that a secret can be read from.
        function NAME_secret
            set -l typed (commandline -ct | string replace -r -- '^--[^=]*=' '')
            string match -q -- '@*' "$typed"; or return
            complete -C "'' "(string sub -s 2 -- "$typed") | string replace -r '^' @
        end
        """#
}
