<?php // php siwa.php
function siwa(string $call, array $body): array {
    $headers = ['Content-Type: application/json', 'Authorization: Bearer ' . getenv('SIWA_TOKEN')];
    $request = ['method' => 'POST', 'header' => $headers, 'content' => json_encode($body), 'ignore_errors' => true];
    $answer = file_get_contents(getenv('SIWA_API') . "/v1/$call", false, stream_context_create(['http' => $request]));
    $result = json_decode($answer, true, flags: JSON_THROW_ON_ERROR);
    if (isset($result['code'])) throw new Exception("$result[code]: $result[detail]");
    return $result;
}
$userID = siwa('exchange', ['code' => getenv('CODE')])['user_id']; // at sign-in
echo $userID, ' ', json_encode(siwa('revoke', ['user_id' => $userID])['revoked'] ?? 'pending'), "\n"; // at deletion
