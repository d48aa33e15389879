import { expect, test } from 'bun:test'
import { world } from '../support/world'

test('a token is told once, and its hint afterwards', async () => {
  const { acme, audited } = await world()
  const made = await acme.call('POST', '/v1/tokens', { name: 'ci', permissions: ['dns.write'] })
  expect(made.status).toBe(201)
  expect(made.body.token).toMatch(/^bw_live_[0-9A-Za-z]{36}$/)
  expect(made.headers.get('location')).toBe(`/v1/tokens/${made.body.id}`)
  const read = await acme.call('GET', `/v1/tokens/${made.body.id}`)
  expect(read.status).toBe(200)
  expect(read.text).not.toContain(made.body.token)
  expect(read.body.hint).toBe(`bw_live_…${made.body.token.slice(-4)}`)
  expect(await audited()).toEqual(['account.token.create'])
})

test('a revoked token stops working with the next request', async () => {
  const { acme, scoped } = await world()
  const reader = await scoped('account.read')
  const mine = (await reader.call('GET', '/v1/tokens')).body.data.find((one: any) => one.mode === 'scoped')
  expect((await acme.call('DELETE', `/v1/tokens/${mine.id}`)).status).toBe(204)
  const refused = await reader.call('GET', '/v1/tokens')
  expect(refused.status).toBe(401)
  expect(refused.body.code).toBe('token_revoked')
})
