import { expect, test } from 'bun:test'
import { partUsage } from './part-usage'

const unit = (name: string, state: string, watched = false) => ({ name, state, sub_state: state, watched })
const container = (name: string, state: string, health: string | null = null) => ({
  ...{ name, image: 'a', state, health },
  restarts: null,
  exit_code: null,
})
const disk = (device: string, warnings: string[]) => ({
  ...{ device, model: null, serial: null, error: null },
  failing: warnings.length > 0,
  warnings,
})

test('what agents reported is counted and named', () => {
  expect(
    partUsage(
      {
        units: [unit('nginx', 'active', true), unit('backup.timer', 'failed', true), unit('cron.service', 'failed')],
        containers: [container('web', 'running', 'unhealthy'), container('db', 'restarting'), container('job', 'exited')],
        disks: [disk('/dev/sda', ['The disk reports that it is failing.', 'More.']), disk('/dev/sdb', [])],
        arrays: [{ name: 'md0', kind: 'md', state: 'active', degraded: true }],
      },
      { security_updates: 3, reboot_required: true },
    ),
  ).toEqual({
    FAILED_UNITS: 2,
    'FAILED_UNITS names': 'backup.timer, cron.service',
    UNIT: 5,
    'UNIT nginx': 'active',
    'UNIT nginx.service': 'active',
    'UNIT backup.timer': 'failed',
    'UNIT cron.service': 'failed',
    'UNIT cron': 'failed',
    UNHEALTHY_CONTAINERS: 2,
    'UNHEALTHY_CONTAINERS names': 'web, db',
    CONTAINER: 3,
    'CONTAINER web': 'running',
    'CONTAINER db': 'restarting',
    'CONTAINER job': 'exited',
    SMART_FAILING: true,
    'SMART_FAILING names': '/dev/sda: The disk reports that it is failing',
    'SMART_FAILING /dev/sda': true,
    'SMART_FAILING /dev/sdb': false,
    ARRAYS_DEGRADED: 1,
    'ARRAYS_DEGRADED names': 'md0',
    SECURITY_UPDATES: 3,
    REBOOT_REQUIRED: true,
  })
})

test('what was not reported is left out, and long lists are shortened', () => {
  expect(partUsage({}, null)).toEqual({})
  expect(partUsage({ units: [], containers: [], disks: [], arrays: [] }, {})).toEqual({
    ...{ FAILED_UNITS: 0, UNIT: 0, UNHEALTHY_CONTAINERS: 0, CONTAINER: 0 },
    ...{ SMART_FAILING: false, ARRAYS_DEGRADED: 0 },
  })
  const units = Array.from({ length: 8 }, (_, at) => unit(`u${at}.timer`, 'failed'))
  expect(partUsage({ units }, null)['FAILED_UNITS names']).toBe('u0.timer, u1.timer, u2.timer, u3.timer, u4.timer, and 3 more')
})
