import { expect, test } from 'bun:test'
import { listen } from '../../src/hub/listen'
import { closeLater, world } from '../support/world'

const schedule = { kind: 'period', period_seconds: 3600, grace_seconds: 60 }
const large = Buffer.alloc(9 * 1024 * 1024, 'a')

async function served() {
  const here = await world()
  const { server } = listen(here.app, { ...here.hub.config, listen: { host: '127.0.0.1', port: 0 } })
  closeLater(() => server().stop(true))
  const url = `http://127.0.0.1:${server().port}`
  const post = (path: string, headers: Record<string, string> = {}, body: BodyInit = large) =>
    fetch(url + path, { method: 'POST', body, headers })
  return { ...here, post }
}

test('a body of any size over the limit is refused with a problem', async () => {
  const { post, acme } = await served()
  const headers = { Authorization: `Bearer ${acme.token}`, 'Content-Type': 'application/json' }
  const chunked = new Blob([large]).stream()
  for (const body of [large, chunked]) {
    const refused = await post('/v1/heartbeats', headers, body)
    expect([refused.status, refused.headers.get('content-type')]).toEqual([413, 'application/problem+json; charset=utf-8'])
    expect(await refused.json()).toMatchObject({ code: 'payload_too_large' })
  }
  const anonymous = await post('/v1/heartbeats', { 'Content-Type': 'application/json' })
  expect([anonymous.status, anonymous.headers.get('content-type')]).toEqual([401, 'application/problem+json; charset=utf-8'])
})

test('a ping with a body over the limit is counted, and its body is cut', async () => {
  const { post, acme, hub } = await served()
  const { id, uuid } = (await acme.call('POST', '/v1/heartbeats', { name: 'backup', schedule })).body
  for (const path of [`/ping/${uuid}`, `/v1/ingest/heartbeats/${uuid}`]) expect((await post(path)).status).toBe(200)
  expect((await acme.call('GET', `/v1/heartbeats/${id}`)).body.ping_count).toBe(2)
  for (const n of [1, 2]) {
    const { body } = (await acme.call('GET', `/v1/heartbeats/${id}/pings/${n}`)).body
    expect(body).toBe('a'.repeat(hub.config.pingBodyLimit))
  }
})
