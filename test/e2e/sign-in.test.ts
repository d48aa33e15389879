import { expect, test } from 'bun:test'
import { installation, startHub } from '../support/binary'
import { Authenticator } from '../support/authenticator'
import { freePort } from '../support/free-port'
import { codeAt } from '../support/one-time-code'

const email = 'ada@example.com'
const password = 'correct horse battery'

test('the compiled program supports one-time codes and passkeys', async () => {
  await using here = await installation()
  const port = await freePort()
  // Passkeys need a hostname.
  const origin = `http://localhost:${port}`
  const args = ['--listen', `127.0.0.1:${port}`]
  await using _hub = await startHub(here, { env: { BAILIWICK_BASE_URL: origin }, args })
  const created = await here.run(['user', 'create', '--email', email, '--name', 'Ada', '--role', 'owner'], {
    input: `${password}\n`,
  })
  expect({ code: created.code, err: created.err }).toEqual({ code: 0, err: '' })
  const send = async (path: string, body?: unknown, cookie?: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { origin, 'bailiwick-csrf': '1', 'content-type': 'application/json', ...(cookie && { cookie }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return {
      status: response.status,
      body: (await response.json()) as any,
      cookie: response.headers.get('set-cookie')?.split(';')[0],
    }
  }
  const { cookie } = await send('/v1/sessions', { email, password })

  const key = new Authenticator(origin)
  const credential = await key.create((await send('/v1/passkeys/options', { password }, cookie)).body)
  expect((await send('/v1/passkeys', { name: 'Laptop', credential }, cookie)).status).toBe(201)
  const { secret } = (await send('/v1/users/me/one-time-codes', { password }, cookie)).body
  const confirmed = await send('/v1/users/me/one-time-codes/enable', { code: codeAt(secret, Date.now()) }, cookie)
  expect([confirmed.status, confirmed.body.recovery_codes?.length]).toEqual([200, 10])

  const missing = await send('/v1/sessions', { email, password })
  expect([missing.status, missing.body.code]).toEqual([401, 'second_factor_required'])
  expect((await send('/v1/sessions', { email, password, code: confirmed.body.recovery_codes[0] })).status).toBe(201)
  expect((await send('/v1/sessions', { email, password, passkey: await key.get(missing.body.passkey_options) })).status).toBe(201)
  const alone = await key.get((await send('/v1/sessions/passkey/options')).body)
  const signed = await send('/v1/sessions/passkey', { credential: alone })
  expect([signed.status, signed.body.user.second_factor]).toEqual([
    201,
    { one_time_codes: true, recovery_codes_remaining: 9, passkeys: 1 },
  ])
})
