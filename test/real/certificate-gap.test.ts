import { expect, test } from 'bun:test'
import { call, fullToken, installation, startHub, until, type HubProcess } from '../support/binary'
import { faketime } from '../support/faketime'
import { freePort } from '../support/free-port'
import { startNginx } from '../support/nginx'
import { startPebble } from '../support/pebble'

// The whole story with the compiled hub, nginx, and Pebble: a name without a certificate is found, and one call issues it. It is
// downloaded and installed, and the next scan closes the gap. Instead of waiting, the hub is restarted with a later clock.

const minuteMs = 60_000
const name = 'shop.example.test'

test('a gap is closed by one call', async () => {
  await using here = await installation()
  const dnsPort = await freePort()
  Object.assign(here.env, { BAILIWICK_DNS_LISTEN: `127.0.0.1:${dnsPort}`, BAILIWICK_DNS_RESOLVERS: '127.0.0.1:9' })
  let hub: HubProcess = await startHub(here)
  await using _ = { [Symbol.asyncDispose]: async () => void (await hub.stop()) }
  const token = await fullToken(here)
  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await call(hub, token, method, path, body)
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  /** Restarts the hub with a clock that is this many minutes ahead. */
  const continueAt = async (minutes: number) => {
    await hub.stop()
    const clock = { LD_PRELOAD: faketime, FAKETIME: `+${minutes}m`, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
    hub = await startHub(here, { env: clock })
  }
  await using nginx = await startNginx()
  await using pebble = await startPebble({ dnsPort })
  const zone = await api('POST', '/v1/dns/zones', { name: 'example.test' })
  await api('POST', `/v1/dns/zones/${zone.id}/records`, { name: 'shop', type: 'A', content: '127.0.0.1' })
  const where = { host: '127.0.0.1', port: nginx.port, servername: name }
  const endpoint = `/v1/tls-endpoints/${(await api('POST', '/v1/tls-endpoints', where)).id}`
  const scanned = async (after: string | null) =>
    await until(
      'a scan',
      async () => {
        const { last_scan_id, last_scan_at } = await api('GET', endpoint)
        return last_scan_id !== null && last_scan_id !== after && { id: last_scan_id as string, at: Date.parse(last_scan_at) }
      },
      60_000,
    )

  // Found by one scan, and confirmed by another one, which the hub starts five minutes later.
  const first = await scanned(null)
  await continueAt(1)
  const confirmedAt = async () => Date.parse((await api('GET', endpoint)).next_scan_at)
  await until('the second scan planned', async () => (await confirmedAt()) === first.at + 5 * minuteMs, 60_000)
  await continueAt(6)
  const second = await scanned(first.id)
  expect(second.at - first.at).toBeGreaterThanOrEqual(5 * minuteMs)
  await continueAt(7)
  const gap = await until(
    'the gap',
    async () => (await api('GET', `/v1/certificate-gaps?name=${name}&kind=uncovered`)).data[0],
    60_000,
  )
  expect(gap).toMatchObject({ kind: 'uncovered', severity: 'high', status: 'open', issuable: true, zone_id: zone.id })
  const path = `/v1/certificate-gaps/${gap.id}`

  const account = await api('POST', '/v1/acme-accounts', {
    ...{ name: 'Pebble', directory_url: pebble.directoryUrl, ca_pem: pebble.ca, terms_agreed: true },
  })
  const action = await api('POST', `${path}/issue`, { acme_account_id: account.id })
  const isIssued = async () => (await api('GET', `/v1/actions/${action.id}`)).finished_at !== null
  await until('the certificate', isIssued, 120_000)
  const managedId = action.resources[0].id
  const { chain, private_key } = await api('POST', `/v1/managed-certificates/${managedId}/download`, {})
  // The roots of Pebble are those of nobody else.
  await api('POST', '/v1/certificate-authorities', { name: 'Pebble', pem: await pebble.root() })
  await nginx.install({ chain, key: private_key })
  await api('POST', `${endpoint}/scan`)
  await scanned(second.id)
  await continueAt(9)
  await until('the end of the gap', async () => (await api('GET', path)).status === 'resolved', 60_000)

  const timeline = (await api('GET', `${path}/timeline`)).data
  expect(timeline.map((one: any) => [one.kind, one.action_id])).toEqual([
    ['opened', null],
    ['issue_started', action.id],
    ['issued', action.id],
    ['resolved', null],
  ])
  expect((await api('GET', `/v1/certificates/coverage?q=${name}`)).data).toMatchObject([{ covered: 'full', gap_ids: [] }])
  expect((await api('GET', endpoint)).addresses).toMatchObject([{ state: 'tls', grade: expect.stringMatching(/^[AB]/) }])
  expect((await api('GET', '/v1/certificate-gaps?status=open&severity=critical,high,medium')).data).toEqual([])
})
