# Ruby's jwt, called as its own documentation says: prints the row of third_parties.py.
#   third_party.rb vectors.json
require "json"
require "jwt"

callers = %w[T40 T41 T43 T44 T50 T51 T52 T56]
accepted, refused = [], []
JSON.parse(File.read(ARGV[0]))["testGroups"].each do |group|
  next unless group["type"] == "identity-token"
  group["tests"].each do |test|
    next if test["result"] == "acceptable" || !(test["flags"] & callers).empty?
    is_accepted = begin
      JWT.decode(test["token"], nil, true, algorithms: ["RS256"], jwks: { keys: group["jwks"]["keys"].map { |key| key.transform_keys(&:to_sym) } },
                 iss: group["issuer"], verify_iss: true, aud: group["audiences"], verify_aud: true, verify_iat: true)
      true
    rescue StandardError
      false
    end
    (is_accepted ? accepted : refused) << test["flags"].join if is_accepted != (test["result"] == "valid")
  end
end
names = ->(list) { list.empty? ? "none" : list.uniq.sort.join(", ") }
puts "| Ruby jwt | #{JWT::VERSION::STRING} | #{names[accepted]} | #{names[refused]} |"
