import { afterAll, beforeAll, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { units } from '../../src/agent/install/units'
import { Systemd } from '../support/systemd'

let system: Systemd
beforeAll(async () => {
  system = await Systemd.start()
}, 180_000)
afterAll(() => system?.end())

const parts = (...args: string[]) =>
  JSON.parse(
    system.run(`cd ${process.cwd()} && ${process.execPath} ${resolve('test/support/report-parts.ts')} ${args.join(' ')}`),
  )

test('failed and watched units are those of systemd', () => {
  system.run(`cd /run/systemd/system
    printf '[Service]\\nExecStart=/bin/sleep 1000\\n' > good.service
    printf '[Service]\\nExecStart=/bin/false\\n' > bad.service
    systemctl daemon-reload; systemctl reset-failed; systemctl start good bad; while systemctl is-active bad; do :; done`)
  const good = (state: string, sub: string) => ({ name: 'good', state, sub_state: sub, watched: true })
  const gone = { name: 'gone.service', state: 'not-found', sub_state: 'dead', watched: true }
  const bad = { name: 'bad.service', state: 'failed', sub_state: 'failed', watched: false }
  const { units, facts, problems } = parts('good', 'gone.service')
  expect(units).toEqual([good('active', 'running'), gone, bad])
  expect(facts.virtualization).toBe('lxc')
  expect(problems).toEqual([])
  // A watched unit that fails is reported once.
  system.run('systemctl reset-failed bad; systemctl kill --signal=KILL good; while systemctl is-active good; do :; done')
  expect(parts('good', 'gone.service').units).toEqual([good('failed', 'failed'), gone])
}, 180_000)

test('a smartctl that never ends delays nothing, and the other disks are read', () => {
  system.run(`install -m 755 ${resolve('test/support/fake-smartctl.sh')} /usr/local/sbin/smartctl`)
  const disk = (device: string) => ({ device, model: null, serial: null, failing: false, warnings: [], error: null })
  const found = parts('--until-disks')
  expect([found.first.disks, found.first.facts.hostname]).toEqual([undefined, expect.any(String)])
  // A report waits for at most five seconds; a disk for 30.
  expect(found.firstMs).toBeLessThan(8000)
  expect(found.last.disks).toEqual([
    { ...disk('/dev/fake-a'), model: 'Fake', serial: '1', failing: true, warnings: ['The disk reports that it is failing.'] },
    { ...disk('/dev/fake-b'), error: 'smartctl did not finish within 30 seconds.' },
  ])
  expect(system.run('pgrep -x smartctl')).toBe('')
}, 180_000)

test('systemd accepts the units of the agent', () => {
  const folder = '/etc/systemd/system'
  for (const [name, text] of Object.entries(units)) system.run(`cat > ${folder}/${name} <<'END'\n${text}\nEND`)
  for (const folder of ['/usr/local/bin', '/usr/local/lib/bailiwick-agent/previous'])
    system.run(`mkdir -p ${folder}; printf '#!/bin/sh\n' > ${folder}/bailiwick-agent; chmod 755 ${folder}/bailiwick-agent`)
  const names = Object.keys(units).join(' ')
  expect(system.run(`cd ${folder} && systemd-analyze verify ${names} 2>&1 | grep bailiwick`)).toBe('')
  system.run(`systemctl daemon-reload; systemctl enable bailiwick-agent-disks.timer`)
  // It starts with the agent, although only root can start it.
  expect(system.run('systemctl list-dependencies --plain bailiwick-agent.service')).toContain('bailiwick-agent-disks.timer')
}, 180_000)
