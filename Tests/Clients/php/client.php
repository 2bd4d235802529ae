<?php
// PHP's own curl, as the copied samples use it; the client_secret is made by siwa.

const APPLE = 'https://appleid.apple.com';

function expect(bool $holds, string $what): void
{
    if (!$holds) {
        fwrite(STDERR, "missing: $what\n");
        exit(1);
    }
    echo "ok: $what\n";
}

function post(string $path, array $fields): array
{
    $request = curl_init(APPLE . $path);
    curl_setopt_array($request, [
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_POSTFIELDS => http_build_query($fields),
        CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_2TLS,
        CURLOPT_USERAGENT => 'curl',
    ]);
    $body = curl_exec($request);
    expect($body !== false, "an answer from $path " . curl_error($request));
    return [curl_getinfo($request, CURLINFO_RESPONSE_CODE), $body];
}

$folder = getenv('APPLE');
$web = json_decode(file_get_contents("$folder/config.json"), true)['profiles']['web'];
$secret = trim(shell_exec(escapeshellarg(getenv('SIWA')) . ' secret --profile web'));
$client = ['client_id' => $web['client_id'], 'client_secret' => $secret];
$redirect = 'https://example.com/callback';
$url = APPLE . '/auth/authorize?' . http_build_query([
    'client_id' => $web['client_id'], 'redirect_uri' => $redirect, 'response_type' => 'code id_token',
    'response_mode' => 'form_post', 'scope' => 'name email', 'state' => 's',
], '', '&', PHP_QUERY_RFC3986);
$callback = json_decode(shell_exec(getenv('SIGN_IN') . ' ' . escapeshellarg($url)), true);
expect($callback['state'] === 's', 'the state');

[$status, $body] = post('/auth/token', $client + [
    'grant_type' => 'authorization_code', 'code' => $callback['code'], 'redirect_uri' => $redirect,
]);
$tokens = json_decode($body, true);
expect($status === 200 && str_starts_with($tokens['id_token'], 'eyJ'), 'tokens');
$refresh = $client + ['grant_type' => 'refresh_token', 'refresh_token' => $tokens['refresh_token']];
[$status, $body] = post('/auth/token', $refresh);
expect($status === 200 && !isset(json_decode($body, true)['refresh_token']), 'a refresh');
[$status, $body] = post('/auth/revoke', $client + ['token' => $tokens['refresh_token']]);
expect($status === 200 && $body === '', 'an empty 200');
[$status, $body] = post('/auth/token', $refresh);
expect($status === 400 && json_decode($body, true)['error'] === 'invalid_grant', 'a dead token');
