# fish completion for siwa, made by 'siwa completions fish'.

# Prints the words that can follow the words given, each with what it does.
function __siwa_next
    switch "$argv"
        case ''
            printf '%s\t%s\n' \
            'revoke' 'Revoke a refresh token or an access token.' \
            'public-key' 'Print the public half of the key.' \
            'config' 'show, path' \
            'completions' 'Print the completions of a shell.' \
            'manual' 'Print a manual page.' \
            'help' 'Explain a command.'
        case 'config'
            printf '%s\t%s\n' \
            'show' 'Print every setting and where it came from.' \
            'path' 'Print which configuration file is in use.'
    end
end

# Prints the options that take a value after the words given.
function __siwa_valued
    switch "$argv"
        case ''
            printf '%s\n' -p --profile --max-attempts
        case 'revoke'
            printf '%s\n' -t --token --code -o --out --audience -p --profile --max-attempts
        case 'public-key'
            printf '%s\n' -f --format -p --profile --max-attempts
        case 'config'
            printf '%s\n' -p --profile --max-attempts
        case 'config show'
            printf '%s\n' --folder -p --profile --max-attempts
    end
end

# Prints what 'help' explains after the words typed, each with what it does.
function __siwa_topics
    __siwa_next $__siwa_operands
    set -q __siwa_operands[1]; or printf '%s\t%s\n' 'options' 'Explain the options of every command.'
end

# Whether the words before the cursor are $argv[1], followed by $argv[2] operands: a number,
# a number and '+' for that many or more, or nothing when any number will do.
function __siwa_at
    set -l node
    set -l option
    set -l ended
    set -g __siwa_operands
    set -l valued (__siwa_valued)
    for word in (commandline -opc)[2..]
        if set -q option[1]
            set option
        else if not set -q ended[1]; and test "$word" = --
            set ended 1
        else if not set -q ended[1]; and string match -q -- '-?*' "$word"
            if contains -- "$word" $valued
                set option 1
            end
        else if not set -q ended[1]; and not set -q __siwa_operands[1]
            and __siwa_next $node | string match -q -- "$word"\t'*'
            set -a node "$word"
            set valued (__siwa_valued $node)
        else
            set -a __siwa_operands "$word"
        end
    end
    set -l count (count $__siwa_operands)
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

# After an '@', the files that a secret can be read from.
function __siwa_secret
    set -l typed (commandline -ct | string replace -r -- '^--[^=]*=' '')
    string match -q -- '@*' "$typed"; or return
    complete -C "'' "(string sub -s 2 -- "$typed") | string replace -r '^' @
end
complete -c siwa -f
complete -c siwa -n '__siwa_at \'\' 0' -a '(__siwa_next \'\')'
complete -c siwa -n '__siwa_at \'\' ' -s p -l profile -r -f -a '(siwa config profiles 2>/dev/null)' -d 'Which profile of the configuration to use.'
complete -c siwa -n '__siwa_at \'\' ' -l max-attempts -r -f -d 'How often to try.'
complete -c siwa -n '__siwa_at \'\' ' -s q -l quiet -d 'Print only the result.'
complete -c siwa -n '__siwa_at \'\' ' -s v -l verbose -d 'Trace requests.'
complete -c siwa -n '__siwa_at \'\' ' -s h -l help -d 'Print this help.'
complete -c siwa -n '__siwa_at \'\' ' -s V -l version -d 'Print the version.'
complete -c siwa -n '__siwa_at \'revoke\' ' -s t -l token -r -f -a '(__siwa_secret)' -d 'The token to revoke.'
complete -c siwa -n '__siwa_at \'revoke\' ' -l code -r -f -a '(__siwa_secret)' -d 'A code to exchange first.'
complete -c siwa -n '__siwa_at \'revoke\' ' -s o -l out -r -F -d 'Where the report goes.'
complete -c siwa -n '__siwa_at \'revoke\' ' -l audience -r -f -d 'A client that may be meant.'
complete -c siwa -n '__siwa_at \'revoke\' ' -l confirm -d 'Check afterwards, which needs a refresh token.'
complete -c siwa -n '__siwa_at \'revoke\' ' -s p -l profile -r -f -a '(siwa config profiles 2>/dev/null)' -d 'Which profile of the configuration to use.'
complete -c siwa -n '__siwa_at \'revoke\' ' -l max-attempts -r -f -d 'How often to try.'
complete -c siwa -n '__siwa_at \'revoke\' ' -s q -l quiet -d 'Print only the result.'
complete -c siwa -n '__siwa_at \'revoke\' ' -s v -l verbose -d 'Trace requests.'
complete -c siwa -n '__siwa_at \'revoke\' ' -s h -l help -d 'Print this help.'
complete -c siwa -n '__siwa_at \'revoke\' ' -s V -l version -d 'Print the version.'
complete -c siwa -n '__siwa_at \'public-key\' 0' -F
complete -c siwa -n '__siwa_at \'public-key\' ' -s f -l format -r -f -a 'pem jwk der-base64' -d 'How to print it.'
complete -c siwa -n '__siwa_at \'public-key\' ' -s p -l profile -r -f -a '(siwa config profiles 2>/dev/null)' -d 'Which profile of the configuration to use.'
complete -c siwa -n '__siwa_at \'public-key\' ' -l max-attempts -r -f -d 'How often to try.'
complete -c siwa -n '__siwa_at \'public-key\' ' -s q -l quiet -d 'Print only the result.'
complete -c siwa -n '__siwa_at \'public-key\' ' -s v -l verbose -d 'Trace requests.'
complete -c siwa -n '__siwa_at \'public-key\' ' -s h -l help -d 'Print this help.'
complete -c siwa -n '__siwa_at \'public-key\' ' -s V -l version -d 'Print the version.'
complete -c siwa -n '__siwa_at \'config\' 0' -a '(__siwa_next \'config\')'
complete -c siwa -n '__siwa_at \'config\' ' -s p -l profile -r -f -a '(siwa config profiles 2>/dev/null)' -d 'Which profile of the configuration to use.'
complete -c siwa -n '__siwa_at \'config\' ' -l max-attempts -r -f -d 'How often to try.'
complete -c siwa -n '__siwa_at \'config\' ' -s q -l quiet -d 'Print only the result.'
complete -c siwa -n '__siwa_at \'config\' ' -s v -l verbose -d 'Trace requests.'
complete -c siwa -n '__siwa_at \'config\' ' -s h -l help -d 'Print this help.'
complete -c siwa -n '__siwa_at \'config\' ' -s V -l version -d 'Print the version.'
complete -c siwa -n '__siwa_at \'config show\' ' -l folder -r -f -a '(__fish_complete_directories (commandline -ct))' -d 'Where to look.'
complete -c siwa -n '__siwa_at \'config show\' ' -s p -l profile -r -f -a '(siwa config profiles 2>/dev/null)' -d 'Which profile of the configuration to use.'
complete -c siwa -n '__siwa_at \'config show\' ' -l max-attempts -r -f -d 'How often to try.'
complete -c siwa -n '__siwa_at \'config show\' ' -s q -l quiet -d 'Print only the result.'
complete -c siwa -n '__siwa_at \'config show\' ' -s v -l verbose -d 'Trace requests.'
complete -c siwa -n '__siwa_at \'config show\' ' -s h -l help -d 'Print this help.'
complete -c siwa -n '__siwa_at \'config show\' ' -s V -l version -d 'Print the version.'
complete -c siwa -n '__siwa_at \'config path\' ' -s h -l help -d 'Print this help.'
complete -c siwa -n '__siwa_at \'config path\' ' -s V -l version -d 'Print the version.'
complete -c siwa -n '__siwa_at \'completions\' 0' -f -a 'bash zsh fish'
complete -c siwa -n '__siwa_at \'completions\' ' -s h -l help -d 'Print this help.'
complete -c siwa -n '__siwa_at \'completions\' ' -s V -l version -d 'Print the version.'
complete -c siwa -n '__siwa_at \'manual\' 0+' -f -a '(__siwa_next $__siwa_operands)'
complete -c siwa -n '__siwa_at \'manual\' ' -s h -l help -d 'Print this help.'
complete -c siwa -n '__siwa_at \'manual\' ' -s V -l version -d 'Print the version.'
complete -c siwa -n '__siwa_at \'help\' 0+' -f -a '(__siwa_topics)'
