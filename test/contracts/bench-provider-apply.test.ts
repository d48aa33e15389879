import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTempFolder, runSource } from '../support/command'
import { providerDoubles } from '../support/provider-doubles'

let doubles: Awaited<ReturnType<typeof providerDoubles>>
beforeAll(async () => {
  doubles = await providerDoubles(true)
})
afterAll(() => doubles?.stop())

const run = (accounts: unknown) =>
  inTempFolder(async folder => {
    const [file, json] = ['accounts.json', 'results.json'].map(name => join(folder, name)) as [string, string]
    writeFileSync(file, JSON.stringify(accounts))
    const { code, err } = await runSource(['bench', 'provider-apply', '--accounts', file, '--json', json], { TMPDIR: folder })
    return { code, err, figures: code === 0 ? (JSON.parse(readFileSync(json, 'utf8')).figures as any[]) : [] }
  })

test('a change of 100 record sets needs as many requests as planned, at each simulated provider', async () => {
  const { code, err, figures } = await run(doubles.accounts)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const requests = (kind: string, purpose: string) =>
    ['create', 'change', 'delete'].map(
      step => figures.find(one => one.name === `${kind}, ${step}: requests that ${purpose}`).value,
    )
  const written = doubles.accounts.map(({ kind }) => [kind, ...requests(kind, 'write')])
  expect(written).toEqual([
    ['cloudflare', 1, 1, 1],
    ['route53', 1, 1, 1],
    ['hetzner', 100, 100, 100],
    ['digitalocean', 100, 100, 100],
    ['desec', 1, 1, 1],
  ])
  // Route 53 compares by itself. The others are read right before a change.
  expect(doubles.accounts.map(({ kind }) => requests(kind, 'read')[1])).toEqual([1, 0, 100, 100, 1])
  // Nothing is left: it can run again.
  expect((await run(doubles.accounts)).code).toBe(0)
}, 180_000)

test.each([
  [{}, 'must be a JSON list of objects with "kind", "zone" and "settings".'],
  [[{ kind: 'godaddy', zone: 'example.com', settings: {} }], 'There is no kind of DNS provider named godaddy.'],
  [[{ kind: 'desec', zone: 'example.com', settings: {} }], 'api_token'],
  [
    [{ kind: 'desec', zone: 'example.com', settings: { api_token: 'w'.repeat(28), base_url: 'http://127.0.0.1:1' } }],
    'desec: The host refused the connection.',
  ],
])('accounts %j are rejected', async (accounts, message) => {
  const { code, err } = await run(accounts)
  expect([code, err]).toEqual([1, expect.stringContaining(message)])
  expect(err).not.toContain('    at ')
})
