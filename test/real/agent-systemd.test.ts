import { afterAll, beforeAll, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { Systemd } from '../support/systemd'

let system: Systemd
beforeAll(async () => {
  system = await Systemd.start()
}, 30_000)
afterAll(() => system?.end())

const parts = () =>
  JSON.parse(
    system.run(`cd ${process.cwd()} && ${process.execPath} ${resolve('test/support/report-parts.ts')} good gone.service`),
  )

test('failed and watched units are those of systemd', () => {
  system.run(`cd /run/systemd/system
    printf '[Service]\\nExecStart=/bin/sleep 1000\\n' > good.service
    printf '[Service]\\nExecStart=/bin/false\\n' > bad.service
    systemctl daemon-reload; systemctl reset-failed; systemctl start good bad; while systemctl is-active bad; do :; done`)
  const good = (state: string, sub: string) => ({ name: 'good', state, sub_state: sub, watched: true })
  const gone = { name: 'gone.service', state: 'not-found', sub_state: 'dead', watched: true }
  const bad = { name: 'bad.service', state: 'failed', sub_state: 'failed', watched: false }
  const { units, facts, problems } = parts()
  expect(units).toEqual([good('active', 'running'), gone, bad])
  expect(facts.virtualization).toBe('lxc')
  expect(problems).toEqual([])
  // A watched unit that fails is reported once.
  system.run('systemctl reset-failed bad; systemctl kill --signal=KILL good; while systemctl is-active good; do :; done')
  expect(parts().units).toEqual([good('failed', 'failed'), gone])
}, 60_000)
