internal import SIWAJOSE

// GET /.well-known/openid-configuration, member by member as four independent copies have it.
extension Service {
    /// The endpoints have the origin that the client used: for appleid.apple.com the document is
    /// Apple's own, and for localhost it contains no address of Apple's.
    func discovery(at origin: String) -> JSON {
        let issuer = behaviors.discoveryIssuer
        let origin = issuer == .appleID ? origin : issuer.rawValue
        return [
            "issuer": issuer.json,
            "authorization_endpoint": .string(origin + EmulatorRoute.authorize.rawValue),
            "token_endpoint": .string(origin + EmulatorRoute.token.rawValue),
            "revocation_endpoint": .string(origin + EmulatorRoute.revoke.rawValue),
            "jwks_uri": .string(origin + EmulatorRoute.keys.rawValue),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query", "fragment", "form_post"],
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "scopes_supported": ["openid", "email", "name"],
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            "claims_supported": [
                "aud", "email", "email_verified", "exp", "iat", "is_private_email", "iss", "nonce",
                "nonce_supported", "real_user_status", "sub", "transfer_sub",
            ],
        ]
    }
}
