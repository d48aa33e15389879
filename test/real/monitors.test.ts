import { afterAll, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { call, fullToken, installation, startHub, until, type HubProcess } from '../support/binary'
import { rowsOf } from '../support/database'
import { startNginx } from '../support/nginx'
import { receiver, stopReceivers, type Receiver } from '../support/receiver'

// The compiled hub monitors a real nginx.
afterAll(stopReceivers)

const events = ['monitor.alert', 'monitor.recovered']

function verifiedMessages(inbox: Receiver, secret: string): any[] {
  const verifier = new Webhook(secret)
  return inbox.received.map(({ headers, body }) => verifier.verify(body, Object.fromEntries(headers)))
}

test.concurrent.each([false, true])(
  'a monitor of a live server is up within 2 s; an outage is one incident, one signed alert and one recovery (hub restarted meanwhile: %p)',
  async restarted => {
    await using here = await installation()
    await using nginx = await startNginx()
    const inbox = receiver()
    let hub: HubProcess = await startHub(here)
    try {
      const token = await fullToken(here)
      const get = async (path: string) => (await call(hub, token, 'GET', path)).body
      const restartIfNeeded = async () => {
        if (!restarted) return
        expect(await hub.stop()).toBe(0)
        hub = await startHub(here)
      }
      const hook = await call(hub, token, 'POST', '/v1/webhook-endpoints', { url: inbox.url, events })
      const created = await call(hub, token, 'POST', '/v1/monitors', {
        type: 'http',
        name: 'shop',
        target: nginx.url,
        interval_seconds: 5,
        retry_interval_seconds: 2,
        confirm: 3,
      })
      expect(created.status).toBe(201)
      const createdAt = performance.now()
      const { id } = created.body
      const statusIs = (status: string, limitMs = 30_000) =>
        until(`the monitor ${status}`, async () => (await get(`/v1/monitors/${id}`)).status === status, limitMs)
      await statusIs('up')
      expect(performance.now() - createdAt).toBeLessThan(2000)

      const stoppedAt = Date.now()
      await nginx.stop()
      await until('the first failure', async () => (await get(`/v1/monitors/${id}`)).last_result?.status === 'down')
      // While the outage is being confirmed: the first failure is already known.
      await restartIfNeeded()
      await statusIs('down')
      const [incident, ...others] = (await get('/v1/incidents')).data
      expect(others).toEqual([])
      expect(incident).toMatchObject({ status: 'open', severity: 'critical', locations: ['local'] })
      expect(incident.cause).toContain('refused')
      const startedAt = Date.parse(incident.started_at)
      expect(startedAt).toBeGreaterThanOrEqual(stoppedAt - 1000)
      expect(Date.parse(incident.confirmed_at)).toBeGreaterThan(startedAt)
      const details = await get(`/v1/incidents/${incident.id}`)
      expect(details.evidence).toMatchObject({ request: expect.stringContaining(nginx.url) })
      await until('the alert', async () => inbox.received.length === 1)

      await restartIfNeeded()
      await nginx.start()
      await statusIs('up')
      await until('the recovery', async () => inbox.received.length === 2)
      // Nothing else is sent.
      await Bun.sleep(6000)
      const messages = verifiedMessages(inbox, hook.body.secret)
      expect(messages.map(one => [one.event, one.data.kind, one.data.monitor.id, one.data.incident.id])).toEqual([
        ['monitor.alert', 'monitor.down', id, incident.id],
        ['monitor.recovered', 'monitor.recovered', id, incident.id],
      ])
      const resolved = await get(`/v1/incidents/${incident.id}`)
      expect(resolved).toMatchObject({ status: 'resolved', started_at: incident.started_at })
      const downtime = (Date.parse(resolved.resolved_at) - startedAt) / 1000
      expect(Math.abs(messages[1].data.downtime_seconds - downtime)).toBeLessThanOrEqual(1)
      expect((await get('/v1/incidents')).data).toHaveLength(1)
      await using rows = rowsOf(here)
      const transitions = await rows.all<{ to: string }>('select to_status as "to" from monitor_transitions order by id')
      expect(transitions.map(one => one.to)).toEqual(['up', 'down', 'up'])
    } finally {
      await hub.stop()
    }
  },
  180_000,
)
