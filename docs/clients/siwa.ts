// node --input-type=module - < siwa.ts
async function siwa(call, body) {
  const answer = await fetch(`${process.env.SIWA_API}/v1/${call}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${process.env.SIWA_TOKEN}` },
    body: JSON.stringify(body),
  });
  const result = await answer.json();
  if (!answer.ok) throw new Error(`${result.code}: ${result.detail}`);
  return result;
}
const { user_id } = await siwa("exchange", { code: process.env.CODE }); // at sign-in
console.log(user_id, (await siwa("revoke", { user_id })).revoked ?? "pending"); // at deletion
