import { Type } from '@sinclair/typebox'
import { auditAction } from './entry'

const byChecks = {
  channels: ['job'],
  targets: ['monitor'],
  changes: { members: { status: Type.String(), flapping: Type.Boolean() } },
} as const

/** What checks found. A check that changes nothing is not written into the audit log. */
export const monitorVerdictActions = [
  auditAction({
    action: 'monitor.begin',
    number: 'MO501',
    description: 'The first checks of a monitor came to a verdict, or the first ones after a time without any.',
    ...byChecks,
    example: { before: { status: 'new' }, after: { status: 'up' } },
  }),
  auditAction({
    action: 'monitor.fail',
    number: 'MO502',
    description: 'A monitor went down.',
    ...byChecks,
    example: { before: { status: 'up' }, after: { status: 'down' } },
  }),
  auditAction({
    action: 'monitor.degrade',
    number: 'MO503',
    description: 'A monitor became degraded: it answers, but not as it should.',
    ...byChecks,
    example: { before: { status: 'up' }, after: { status: 'degraded' } },
  }),
  auditAction({
    action: 'monitor.recover',
    number: 'MO504',
    description: 'A monitor that was down or degraded is up again.',
    ...byChecks,
    example: { before: { status: 'down' }, after: { status: 'up' } },
  }),
  auditAction({
    action: 'monitor.lose',
    number: 'MO505',
    description: 'Nothing was heard of a monitor any more from any location that has a say.',
    ...byChecks,
    example: { before: { status: 'up' }, after: { status: 'unknown' } },
  }),
  auditAction({
    action: 'monitor.shelter',
    number: 'MO506',
    description: 'A maintenance window began for a monitor: it is checked, and nobody is alarmed.',
    ...byChecks,
    example: { before: { status: 'up' }, after: { status: 'maintenance' } },
  }),
  auditAction({
    action: 'monitor.unshelter',
    number: 'MO507',
    description: 'The maintenance window of a monitor ended.',
    ...byChecks,
    example: { before: { status: 'maintenance' }, after: { status: 'up' } },
  }),
  auditAction({
    action: 'monitor.flap',
    number: 'MO508',
    description: 'A monitor began to change to and fro: until it rests, its changes are not told one by one.',
    ...byChecks,
    example: { before: { flapping: false }, after: { flapping: true } },
  }),
  auditAction({
    action: 'monitor.rest',
    number: 'MO509',
    description: 'A monitor that changed to and fro came to rest.',
    ...byChecks,
    example: { before: { flapping: true }, after: { flapping: false } },
  }),
] as const
