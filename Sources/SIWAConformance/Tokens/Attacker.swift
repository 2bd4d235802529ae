package import SIWACrypto
package import SIWAJOSE

/// The keys of somebody who is not Apple: constants, known to everybody, that no key set has.
package enum Attacker {
    /// An RSA key of 2048 bits.
    package static func rsaKey() throws -> RSAPrivateKey {
        try RSAPrivateKey(derRepresentation: Base64URL.decode(encodedKey))
    }

    /// A P-256 key.
    package static func ellipticKey() throws -> ReproducibleP256Key {
        try ReproducibleP256Key(scalar: SHA256.digest("an attacker's key"))
    }

    /// The public half of the RSA key, as a JSON Web Key.
    package static var jwk: JSON {
        let key = try? rsaKey()
        return [
            "kty": "RSA", "kid": "own", "use": "sig", "alg": "RS256",
            "n": .string(Base64URL.encode(key?.modulus ?? [])),
            "e": .string(Base64URL.encode(key?.exponent ?? [])),
        ]
    }

    /// The certificate that the RSA key signed for itself, in DER.
    package static var certificate: [UInt8] { (try? Base64URL.decode(encodedCertificate)) ?? [] }

    /// The certificate in PEM (RFC 7468).
    package static var certificatePEM: String {
        PEMText.encode(certificate, label: "CERTIFICATE")
    }

    /// PKCS#1 in base64url, generated for this purpose and used nowhere else.
    private static let encodedKey = """
        MIIEpQIBAAKCAQEA0twI3YkbgtCVopd9l7iso6DHyK1p2BLffNclRqMyxoGp8nmxlgJxWS6gtZHT6iMf0INhKy\
        tMivfCB-R4adDb7epx8aGNASO_vNsoL1C6JGikEV8Sw0w5ycAIyBsO4DcKli1DXg_4UhYL_j7xXCNH4nmBGR3v\
        3TqvUj1UU5nyX6F_7mmSz9N6zeSaofYeU88LZ1hj01RhzCZd8Hd2dcicMcqmCxrmjE6pdW0xznXsKtn5MVB3MR\
        7vT0o-i0McjaLg4LxSw4xn9ZrodQbL3aNdTnOzms8gnRivB3IddeB3-ekasgjNXmBE9NA3K7RfvrAv92tNXcp1\
        0-4KcyfLhNFtCQIDAQABAoIBABpddeRRaPW15Afk_kiyyC9bgq-Gc2YXkgc3lYscC9TDUL8nVTunCYo3qNObLM\
        6pXqiBTOyLaPI1YXcAK8g7W8yHVID8jLd4Q1i3ZHJqGyRDS0R6yUtPJCikUNTIgVcqurGlbjd8MrX82LoNH7vA\
        E5RvUeOUmTHlzRcw4PLlHGe1fRCtyd6SG-__x2qUe2xB9bU836mj9stLrhoGo4FInKAIDIgQHoph0AfsAgXJQz\
        SQm7AWocx5Mf2Ola0vt2E0_grfOQ5jJhngnQW0dq_QrKxp6WGkxAodbyz4mQkc9CpzBaYxLaOEjQmdFrhf3ri2\
        9_7-H5bkLIBynI9rFOI2bvMCgYEA_AviogCRyH6swbbp8LwPkoKuRGcBsD8SG2l21y0uSqjVmSTnd2Y4cVxzoc\
        Y3FmshIVOWqTB2Xaqn8duX2kIKsqATlo0OzzRFOa6TSk-PlOn1pFgOr2mxZcRZgyl5KaZbzuqEm-kw6JEbIXF1\
        uFIo1luUXTK4pzB4egB4AxM99Y8CgYEA1irCd8XWmpw0GeMZnIUp3NtGNAaZoIhU1k3PKuZRD_zumOZeNvp2zT\
        9yPww4PlTuraNzzF_xLEKJXMQ-gkM12_As5nZO-H2lQVxz5mP4LqPMbsbY8dJPFNPzGSzN3BVAqPqFlrO09YJt\
        rKK_xJGS7wR5zsmPUbA_qJiPsIkXF-cCgYEAkz8iTMCGappOtPD2ZNSJSG-d_Yor-1otauRHMFhN1gIin1BnBW\
        MrkFaRmy4gmrFFbqHVv8v3Kqt7aBmA8lpow4gvSWHpB_YihxtNIzmtyTKRdkyXb7UQlUKLhMvi5AkzU4PAqxEl\
        qIi1T-ln-6HMB8cCuxvZsprnl2bUtf800FMCgYEAqP0UdW2l6FlYwxRvIRHx9lMPEf4jOohYaMD8tt0FGZh6rC\
        saLEd1dn6ZpyX9OzHJIznWJW2O312hBZHTwPVHikP5KeAwb-K0gt5wlVpMeoDEzqQYirdnrweOyk6QIRij7LHA\
        tykVoKNJ5u6EYpZ7Wh4t_v0MGWj40g-PUbzafAECgYEA64TQt5u09AVktGUmKQxZkESOfUxCuyO8BnvTsIVjLb\
        OdbaIj01FHdgQ_IdTKfkiGZaK4VHzPp3lfcAHpZ1Lq7YEj1PaOXPHxdHr1y2SE16NXsqpIZisttyHW2t7nbiGS\
        _mLEcF_BffZ8tL1ELccseCe6W2n_PWFJ1jaINyhHAk4
        """

    /// X.509 in base64url, valid to 2126.
    private static let encodedCertificate = """
        MIIDGTCCAgGgAwIBAgIUbJlD5tkGzdm3vEl0rpfvd5il_XYwDQYJKoZIhvcNAQELBQAwGzEZMBcGA1UEAwwQYX\
        R0YWNrZXIuZXhhbXBsZTAgFw0yNjExMjQxNTI5MjFaGA8yMTI2MTAzMTE1MjkyMVowGzEZMBcGA1UEAwwQYXR0\
        YWNrZXIuZXhhbXBsZTCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBANLcCN2JG4LQlaKXfZe4rKOgx8\
        itadgS33zXJUajMsaBqfJ5sZYCcVkuoLWR0-ojH9CDYSsrTIr3wgfkeGnQ2-3qcfGhjQEjv7zbKC9QuiRopBFf\
        EsNMOcnACMgbDuA3CpYtQ14P-FIWC_4-8VwjR-J5gRkd7906r1I9VFOZ8l-hf-5pks_Tes3kmqH2HlPPC2dYY9\
        NUYcwmXfB3dnXInDHKpgsa5oxOqXVtMc517CrZ-TFQdzEe709KPotDHI2i4OC8UsOMZ_Wa6HUGy92jXU5zs5rP\
        IJ0YrwdyHXXgd_npGrIIzV5gRPTQNyu0X76wL_drTV3KddPuCnMny4TRbQkCAwEAAaNTMFEwHQYDVR0OBBYEFH\
        WeXBNDzmPs0m0VRZ0_grjzvNQ7MB8GA1UdIwQYMBaAFHWeXBNDzmPs0m0VRZ0_grjzvNQ7MA8GA1UdEwEB_wQF\
        MAMBAf8wDQYJKoZIhvcNAQELBQADggEBAAHyNR6pW6RpDaUt9TzBJpoeX4gFYk-XO7DHrTwkTXs1CJjCfNIKfw\
        KZHFG58EVOPV_QoloBxdgTDyARhPENJWsLxQSn4TWTme2jTY7PqEPFmUqoI4_rXymDsQD1vvPFvwdFDmotnV5X\
        M3rXIKCe4tj7KdRWWiy_Ug6p47yXh-T8F4xxTxrS-tv4ZpnuHzfCPGWoACBA2P2jp2EdiDi8LU4XT0Pd9bwmeG\
        Bzfk-sObq2FXpTVBxXtBlS5UdB_HIv_J0tQvgBNzxgGSSjCBlyzxkWkxsrix0XSKz0QOj8f19K4jq96vo6JFte\
        sTNKIh6mt4Wou5YXUhvHivPe9WwuSrc
        """
}

/// Binary data as the texts in which keys are usually kept.
enum PEMText {
    /// PEM (RFC 7468) with lines of 64 characters.
    static func encode(_ der: [UInt8], label: String) -> String {
        var lines = "-----BEGIN \(label)-----\n"
        var rest = Substring(Base64.encode(der))
        while !rest.isEmpty {
            lines += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return lines + "-----END \(label)-----\n"
    }
}
