import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { sealedIn } from '../../src/core/outgoing/signing-secrets'
import { managedCertificates } from '../../src/features/acme/managed-certificates/tables'
import { cloudCatalogs } from '../../src/features/servers/accounts/tables'
import { acmeScene } from './acme-scene'
import { contactInput } from './contacts'
import { password, person } from './people'
import type { World } from './world'

const schedule = { kind: 'period', period_seconds: 600, grace_seconds: 60 }

/** Creates a value in each sealed column. */
export async function sealSome(w: World): Promise<{ beat: any; key: any }> {
  const beat = (await w.acme.call('POST', '/v1/heartbeats', { name: 'beat', schedule })).body
  const hook = { url: 'http://127.0.0.1:9/', events: ['monitor.alert'], headers: { 'X-Key': 'a value' } }
  const endpoint = await w.acme.call('POST', '/v1/webhook-endpoints', hook)
  await w.acme.call('POST', `/v1/webhook-endpoints/${endpoint.body.id}/secret/rotate`)
  const stream = await w.acme.call('POST', '/v1/audit-streams', { name: 'stream', url: 'http://127.0.0.1:9/', active: false })
  await w.acme.call('POST', `/v1/audit-streams/${stream.body.id}/secret/rotate`, {})
  const settings = { url: 'http://127.0.0.1:9/', api_key: 'a-key' }
  await w.acme.call('POST', '/v1/dns/providers/builtin/tsig-keys', { name: 'ns2' })
  await w.acme.call('POST', '/v1/dns/providers', { kind: 'powerdns', name: 'provider', settings })
  const porkbun = { api_key: 'pk1_a-key-of-it', secret_api_key: 'sk1_a-secret' }
  await w.acme.call('POST', '/v1/registrar-accounts', { kind: 'porkbun', name: 'registrar', settings: porkbun })
  const channel = { kind: 'slack', name: 'channel', settings: { url: 'http://127.0.0.1:9/' } }
  await w.acme.call('POST', '/v1/notification-channels', channel)
  const options = { auth: { type: 'basic', username: 'probe', password: 'a-password' } }
  await w.acme.call('POST', '/v1/monitors', { type: 'http', name: 'monitor', target: 'http://127.0.0.1:9/', options })
  const server = await w.acme.call('POST', '/v1/servers', { name: 'rack' }, { 'Idempotency-Key': 'rack' })
  const bmc = { url: 'http://127.0.0.1:9/', user: 'bailiwick', password: 'a-password' }
  await w.acme.call('PUT', `/v1/servers/${server.body.id}/controllers/redfish`, { settings: bmc })
  await w.acme.call('POST', '/v1/contacts', contactInput)
  await w.acme.call('POST', '/v1/calendar-feeds', { name: 'feed', include: ['maintenance'] })
  await w.acme.call('PATCH', '/v1/certificate-settings', { ct: { kind: 'certspotter', token: 'a-token' } })
  await draftWithUserData(w)
  await certificateWithKeys(w)
  await w.rival.call('POST', '/v1/heartbeats', { name: 'beat', schedule })
  const { call } = await person(w, w.acme.workspaceId, 'viewer', 'ada@example.com')
  await call('POST', '/v1/users/me/one-time-codes', { password })
  return { beat, key: (await w.acme.call('GET', '/v1/heartbeats/ping-key')).body }
}

/** A draft at a cloud that is not there, but whose catalog is known. */
async function draftWithUserData(w: World): Promise<void> {
  const access = { api_token: 't'.repeat(64), base_url: 'http://127.0.0.1:9/' }
  const { body: account } = await w.acme.call('POST', '/v1/cloud-accounts', { kind: 'hetzner', name: 'cloud', settings: access })
  const catalog = { locations: [], sizes: [], images: [], networks: [] }
  const row = { accountId: account.id, catalog, readAt: w.clock.now() }
  await record(w.hub, async tx => ({ result: void (await tx.insert(cloudCatalogs).values(row)) }))
  const draft = { name: 'draft', account_id: account.id, provision: false, user_data: '#cloud-config\n' }
  const { status, text } = await w.acme.call('POST', '/v1/servers', draft, { 'Idempotency-Key': 'draft' })
  if (status !== 201) throw new Error(text)
}

/** A managed certificate with a key, while its renewal has another one. */
async function certificateWithKeys(w: World): Promise<void> {
  const { ca, create } = await acmeScene(w, ['sealed.internal'])
  const { status, text, body } = await create(['sealed.internal'])
  if (status !== 201) throw new Error(text)
  ca.stop()
  await record(w.hub, async tx => {
    const [row] = await tx.select().from(managedCertificates).where(eq(managedCertificates.id, body.id))
    const seal = (column: 'key_sealed' | 'next_key_sealed') =>
      w.hub.keys.seal(tx, sealedIn(managedCertificates, row!, column), 'a-key')
    const [keySealed, nextKeySealed] = [await seal('key_sealed'), await seal('next_key_sealed')]
    await tx.update(managedCertificates).set({ keySealed, nextKeySealed }).where(eq(managedCertificates.id, row!.id))
    return { result: undefined }
  })
}
