import { describe, expect, test } from 'bun:test'
import { newMonitorState, type MonitorState } from './state'
import type { FollowUp, Judged, JudgeInput, Parent, Rules } from './input'
import { afterEdit, judge } from './judge'

const start = Date.UTC(2026, 0, 1)
const second = 1000
const rules: Rules = {
  locations: ['local'],
  intervalMs: 60 * second,
  confirm: 2,
  recover: 2,
  recoveryMs: 0,
  quorum: 'majority',
  dependencyGraceMs: 60 * second,
}
const three = { ...rules, locations: ['a', 'b', 'c'], recoveryMs: 60 * second }
const refused = { kind: 'refused', message: 'Connection refused.' } as const
const slow = { kind: 'condition', message: 'Response took 900 ms, more than 500 ms.' } as const

/** A monitor that is judged step by step. Times are in seconds since the start. */
function watched(own: Rules = rules) {
  let judged: Judged = {
    state: newMonitorState(start),
    status: 'new',
    transition: null,
    followUps: [],
    wakeAt: null,
    quiet: true,
  }
  const followUps: FollowUp[] = []
  const around: Partial<JudgeInput> = {}
  const step = (at: number, results: JudgeInput['results'] = []) => {
    judged = judge(judged.state, { rules: own, status: judged.status, results, ...around }, start + at * second)
    followUps.push(...judged.followUps)
    return judged
  }
  const was = (status: 'up' | 'degraded' | 'down', at: number, location = own.locations[0]!) =>
    step(at, [{ location, at: start + at * second, status, error: status === 'up' ? null : status === 'down' ? refused : slow }])
  return {
    around,
    step,
    was,
    up: (at: number, location?: string) => was('up', at, location),
    down: (at: number, location?: string) => was('down', at, location),
    slow: (at: number, location?: string) => was('degraded', at, location),
    kinds: () => followUps.map(followUp => followUp.kind),
    all: followUps,
    edit: (at: number) => (judged = { ...judged, state: afterEdit(judged.state, own.locations, start + at * second) }),
    get state() {
      return judged.state
    },
    get status() {
      return judged.status
    },
  }
}

describe('the verdict of one location', () => {
  test('is up after the first success, and down after two failures, starting with the first of them', () => {
    const monitor = watched()
    expect(monitor.up(0).transition).toMatchObject({ from: 'new', to: 'up' })
    expect(monitor.down(60)).toMatchObject({ status: 'up', transition: null, followUps: [], quiet: true })
    const { transition, followUps } = monitor.down(75)
    expect(transition).toEqual({
      from: 'up',
      to: 'down',
      at: start + 75 * second,
      since: start + 60 * second,
      reason: 'Connection refused.',
    })
    expect(followUps).toEqual([
      {
        kind: 'alert',
        reason: 'Connection refused.',
        startedAt: start + 60 * second,
        confirmedAt: start + 75 * second,
        locations: ['local'],
      },
    ])
  })

  test('is up after a first degraded result, with a reason that says so', () => {
    const { transition } = watched().slow(0)
    expect(transition).toMatchObject({ from: 'new', to: 'up', reason: `Up, but degraded: ${slow.message}` })
  })

  test('is degraded at once if the result is certain, such as a certificate that expires soon', () => {
    const monitor = watched()
    const expiring = (at: number) =>
      monitor.step(at, [{ location: 'local', at: start + at * second, status: 'degraded', error: slow, isCertain: true }])
    expect(expiring(0).transition).toMatchObject({ from: 'new', to: 'degraded', since: start })
    monitor.up(60)
    expect(monitor.up(120).status).toBe('up')
    expect(expiring(180).status).toBe('degraded')
  })

  test('recovers after two successes, and reports that once, with the first failure', () => {
    const monitor = watched()
    monitor.up(0)
    for (const at of [60, 75, 90, 150]) monitor.down(at)
    monitor.up(210)
    monitor.down(225)
    monitor.up(285)
    expect(monitor.status).toBe('down')
    expect(monitor.up(300).followUps).toEqual([
      {
        kind: 'recovered',
        resolution: 'recovered',
        notified: 'down',
        reason: 'Checks are passing.',
        startedAt: start + 60 * second,
      },
    ])
    monitor.up(360)
    expect(monitor.kinds()).toEqual(['alert', 'recovered'])
  })

  test('is unknown after three intervals without results, and continues without a second alert', () => {
    const monitor = watched()
    monitor.up(0)
    monitor.down(60)
    const { wakeAt } = monitor.down(75)
    expect(wakeAt).toBe(start + 255 * second + 1)
    expect(monitor.step(255).status).toBe('down')
    expect(monitor.step(256)).toMatchObject({ status: 'unknown', followUps: [], wakeAt: null })
    monitor.down(600)
    expect(monitor.status).toBe('unknown')
    monitor.down(615)
    expect([monitor.status, ...monitor.kinds()]).toEqual(['down', 'alert'])
    monitor.step(1000)
    monitor.up(1010)
    expect([monitor.status, ...monitor.kinds()]).toEqual(['up', 'alert', 'recovered'])
  })

  test('is kept through an update until the first result, and a single success is enough', () => {
    const monitor = watched()
    monitor.up(0)
    monitor.down(60)
    monitor.down(75)
    monitor.edit(80)
    expect(monitor.step(80).status).toBe('down')
    expect(monitor.up(81).status).toBe('up')
    expect(monitor.kinds()).toEqual(['alert', 'recovered'])
  })

  test('is degraded after two slow results, reported once, and once more when it gets worse', () => {
    const monitor = watched()
    monitor.up(0)
    monitor.slow(60)
    expect(monitor.status).toBe('up')
    expect(monitor.slow(120).transition).toMatchObject({ to: 'degraded', since: start + 60 * second, reason: slow.message })
    monitor.down(180)
    monitor.down(195)
    monitor.slow(255)
    monitor.slow(315)
    expect(monitor.status).toBe('degraded')
    monitor.up(375)
    monitor.up(435)
    expect(monitor.kinds()).toEqual(['degraded', 'alert', 'improved', 'recovered'])
    expect(monitor.all.at(-2)).toMatchObject({ startedAt: start + 180 * second, at: start + 315 * second, reason: slow.message })
    expect(monitor.all.at(-1)).toMatchObject({ notified: 'degraded', startedAt: start + 180 * second })
  })

  test('ignores late results, and continues after the clock was set back', () => {
    const monitor = watched()
    monitor.up(600)
    monitor.step(700, [{ location: 'local', at: start, status: 'down', error: refused }])
    expect(monitor.state.locations.local).toMatchObject({ streak: 0, lastResultAt: start + 600 * second })
    monitor.down(60)
    monitor.down(75)
    expect(monitor.status).toBe('down')
  })

  test('ends its outage when paused, and starts over when resumed', () => {
    const monitor = watched()
    monitor.up(0)
    monitor.down(60)
    monitor.down(75)
    monitor.around.paused = true
    expect(monitor.step(80)).toMatchObject({
      status: 'paused',
      followUps: [{ kind: 'recovered', resolution: 'paused' }],
      wakeAt: null,
    })
    expect(monitor.step(90)).toMatchObject({ followUps: [], transition: null, quiet: true })
    monitor.around.paused = false
    expect(monitor.step(100).status).toBe('unknown')
    monitor.down(101)
    monitor.down(116)
    expect([monitor.status, ...monitor.kinds()]).toEqual(['down', 'alert', 'recovered', 'alert'])
  })
})

describe('the verdict of several locations', () => {
  const settled = () => {
    const monitor = watched(three)
    for (const location of three.locations) monitor.up(0, location)
    return monitor
  }

  test('requests checks from the others when one reports it as down, and is down with more than half', () => {
    const monitor = settled()
    monitor.down(60, 'a')
    expect(monitor.down(75, 'a')).toMatchObject({ status: 'up', followUps: [{ kind: 'check_locations', locations: ['b', 'c'] }] })
    monitor.down(76, 'b')
    monitor.down(77, 'b')
    expect(monitor.status).toBe('down')
    expect(monitor.all.at(-1)).toMatchObject({
      kind: 'alert',
      startedAt: start + 76 * second,
      locations: ['a', 'b'],
      reason: '2 of 3 locations report it as down: Connection refused.',
    })
  })

  test('is degraded when the others have checked and report it as up', () => {
    const monitor = settled()
    monitor.down(60, 'a')
    monitor.down(75, 'a')
    monitor.up(76, 'b')
    expect(monitor.status).toBe('up')
    monitor.up(76, 'c')
    expect(monitor.status).toBe('degraded')
    expect(monitor.all.at(-1)).toMatchObject({
      kind: 'degraded',
      reason: '1 of 3 locations reports it as down: Connection refused.',
    })
  })

  test('recovers once fewer than the quorum have reported it as down for the recovery time', () => {
    const monitor = settled()
    for (const location of ['a', 'b', 'c']) for (const at of [60, 75]) monitor.down(at, location)
    for (const at of [120, 135]) for (const location of ['a', 'b']) monitor.up(at, location)
    expect(monitor.status).toBe('down')
    expect(monitor.step(194).wakeAt).toBe(start + 195 * second)
    monitor.down(194, 'c')
    expect(monitor.step(195).status).toBe('degraded')
  })

  test('counts no silent or impaired locations, and is unknown when none is left', () => {
    const monitor = settled()
    for (const at of [60, 75]) for (const location of ['a', 'b']) monitor.down(at, location)
    expect(monitor.status).toBe('down')
    const other = settled()
    other.around.impaired = ['a', 'b']
    for (const at of [60, 75]) for (const location of ['a', 'b']) other.down(at, location)
    expect([other.status, ...other.kinds()]).toEqual(['up'])
    other.around.impaired = ['a', 'b', 'c']
    expect(other.step(76)).toMatchObject({
      status: 'unknown',
      transition: { reason: 'The locations have connectivity problems of their own.' },
    })
  })

  test.each([
    ['any', ['a'], 'down'],
    ['all', ['a', 'b'], 'degraded'],
    ['all', ['a', 'b', 'c'], 'down'],
    [2, ['a'], 'degraded'],
    [2, ['a', 'b'], 'down'],
    [5, ['a', 'b', 'c'], 'degraded'],
  ] as const)('with the quorum %p and %p down is %s', (quorum, downs, expected) => {
    const monitor = watched({ ...three, quorum })
    for (const location of three.locations) monitor.up(0, location)
    for (const at of [60, 75])
      for (const location of three.locations)
        monitor.was((downs as readonly string[]).includes(location) ? 'down' : 'up', at, location)
    expect(monitor.status).toBe(expected)
  })
})

describe('maintenance', () => {
  const work = { id: 'mw_1', name: 'New disks', until: start + 300 * second }

  test('is shown, keeps the state of checks, and suppresses alerts until an interval after it', () => {
    const monitor = watched()
    monitor.up(0)
    monitor.around.maintenance = work
    expect(monitor.step(30)).toMatchObject({
      status: 'maintenance',
      transition: { reason: 'Maintenance: New disks.' },
      wakeAt: start + 180 * second + 1,
    })
    for (const at of [60, 75, 135, 195, 255]) monitor.down(at)
    expect(monitor.state).toMatchObject({ verdict: 'down', suppressed: { cause: 'maintenance', by: 'mw_1' } })
    monitor.around.maintenance = null
    expect(monitor.step(300)).toMatchObject({ status: 'down', followUps: [], wakeAt: start + 360 * second })
    expect(monitor.step(359).followUps).toEqual([])
    expect(monitor.step(360).followUps).toMatchObject([{ kind: 'alert', startedAt: start + 60 * second }])
  })

  test('reports nothing that recovers in time, and reports the recovery of an earlier alert', () => {
    const monitor = watched()
    monitor.up(0)
    monitor.around.maintenance = work
    for (const at of [60, 75]) monitor.down(at)
    monitor.around.maintenance = null
    monitor.step(300)
    for (const at of [310, 325]) monitor.up(at)
    expect(monitor.kinds()).toEqual([])
    for (const at of [400, 415]) monitor.down(at)
    monitor.around.maintenance = work
    for (const at of [500, 515]) monitor.up(at)
    expect(monitor.kinds()).toEqual(['alert', 'recovered'])
  })
})

describe('dependencies', () => {
  const parent = (verdict: MonitorState['verdict'], lastResultAt: number, streak = 0): Parent => ({
    id: 'mon_p',
    name: 'Router',
    state: {
      ...newMonitorState(start),
      verdict,
      locations: {
        local: {
          settled: verdict === 'down' ? 'down' : 'up',
          streak,
          streakSince: null,
          since: start,
          degraded: false,
          degradedStreak: 0,
          degradedSince: null,
          lastResultAt: start + lastResultAt * second,
          lastError: null,
        },
      },
    },
  })
  const failing = (first: Parent) => {
    const monitor = watched()
    monitor.around.parents = [first]
    monitor.up(0)
    monitor.down(60)
    monitor.down(75)
    return monitor
  }

  test('that are down suppress the alert, and the monitor is listed as affected', () => {
    const monitor = failing(parent('down', 70))
    expect(monitor.all).toMatchObject([{ kind: 'affected', by: 'mon_p', startedAt: start + 60 * second }])
    monitor.down(135)
    expect(monitor.status).toBe('down')
    for (const at of [195, 210]) monitor.up(at)
    expect(monitor.kinds()).toEqual(['affected'])
  })

  test('that were not checked since are waited for, at most for the grace period', () => {
    const monitor = failing(parent('up', 60))
    expect(monitor.all).toMatchObject([{ kind: 'check_parents', parents: ['mon_p'] }])
    expect(monitor.step(100)).toMatchObject({ followUps: [], wakeAt: start + 135 * second })
    monitor.around.parents = [parent('up', 101, 1)]
    expect(monitor.step(101).followUps).toEqual([])
    expect(monitor.step(135).followUps).toMatchObject([{ kind: 'alert' }])
  })

  test('that are up, or that nothing checks, are not waited for', () => {
    const monitor = failing(parent('up', 60))
    monitor.around.parents = [parent('up', 76)]
    expect(monitor.step(76).followUps).toMatchObject([{ kind: 'alert' }])
    expect(failing(parent('unknown', 60)).kinds()).toEqual(['alert'])
  })

  test('that go down within the grace period suppress the alert', () => {
    const monitor = failing(parent('up', 60))
    monitor.around.parents = [parent('down', 110)]
    expect(monitor.step(110).followUps).toMatchObject([{ kind: 'affected' }])
    expect(monitor.step(500).followUps).toEqual([])
  })

  test('that recover no longer suppress the alert once the monitor was checked again', () => {
    const monitor = failing(parent('down', 70))
    monitor.around.parents = [parent('up', 200)]
    expect(monitor.step(200).followUps).toEqual([{ kind: 'recheck' }])
    expect(monitor.step(201).followUps).toEqual([])
    expect(monitor.down(202).followUps).toMatchObject([{ kind: 'alert' }])
  })

  test('that recover lead to an alert only if the monitor fails again', () => {
    const monitor = failing(parent('down', 70))
    monitor.around.parents = [parent('up', 200)]
    monitor.step(200)
    monitor.up(202)
    expect(monitor.kinds().filter(kind => kind === 'alert')).toEqual([])
    expect(monitor.down(204).followUps).toMatchObject([{ kind: 'alert' }])
  })

  test('that go up and down cause no flapping', () => {
    const monitor = watched({ ...rules, confirm: 1, recover: 1 })
    monitor.up(0)
    for (let at = 60; at < 1200; at += 60) {
      const isDown = at % 120 === 60
      monitor.around.parents = [parent(isDown ? 'down' : 'up', at)]
      monitor.was(isDown ? 'down' : 'up', at)
    }
    expect(new Set(monitor.kinds())).toEqual(new Set(['affected']))
    expect([monitor.state.flapping, monitor.state.recent.length]).toEqual([false, 1])
  })
})

describe('a group', () => {
  const group = () => {
    const monitor = watched()
    const is = (at: number, verdict: MonitorState['verdict'], excusedBy: string | null = null) => {
      monitor.around.group = { verdict, reason: `It is ${verdict}.`, excusedBy }
      return monitor.step(at)
    }
    is(0, 'up')
    return { ...monitor, is }
  }

  test('whose members fail one after another within an interval is reported once, and so is its recovery', () => {
    const { is, kinds } = group()
    expect(is(60, 'degraded')).toMatchObject({ status: 'degraded', followUps: [], wakeAt: start + 120 * second })
    expect(is(80, 'down').status).toBe('down')
    is(600, 'degraded')
    is(620, 'up')
    expect(kinds()).toEqual(['alert', 'recovered'])
  })

  test('that stays degraded for an interval is reported as degraded', () => {
    const { is, kinds } = group()
    is(60, 'degraded')
    expect(is(120, 'degraded').followUps).toMatchObject([{ kind: 'degraded', startedAt: start + 60 * second }])
    is(200, 'up')
    expect(kinds()).toEqual(['degraded', 'recovered'])
  })

  test('reports an outage once, however many steps it takes within an interval', () => {
    const { is, kinds } = group()
    for (let at = 100; at < 500; at += 200) {
      is(at, 'degraded')
      is(at + 20, 'down')
      is(at + 100, 'degraded')
      is(at + 120, 'up')
    }
    expect(kinds()).toEqual(['alert', 'recovered', 'alert', 'recovered'])
  })

  test('that is down only because of a dependency of its members is affected, and sends no alert', () => {
    const { is, kinds, around } = group()
    is(60, 'degraded', 'mon_p')
    expect(kinds()).toEqual([])
    around.parents = [{ id: 'mon_p', name: 'Router', state: { ...newMonitorState(start), verdict: 'down' } }]
    is(65, 'down', 'mon_p')
    expect(kinds()).toEqual(['affected'])
    around.parents = [{ id: 'mon_p', name: 'Router', state: { ...newMonitorState(start), verdict: 'up' } }]
    is(300, 'down', 'mon_p')
    is(400, 'down', 'mon_p')
    is(405, 'up')
    expect(kinds()).toEqual(['affected', 'recheck'])
  })
})

describe('flapping', () => {
  const flap = () => {
    const monitor = watched({ ...rules, confirm: 1, recover: 1 })
    monitor.up(0)
    for (let at = 60; at < 1200; at += 60) monitor.was(at % 120 === 60 ? 'down' : 'up', at)
    return monitor
  }

  test('is reported once, and suppresses alerts until it stops', () => {
    const monitor = flap()
    expect(monitor.kinds()).toEqual(['alert', 'recovered', 'alert', 'recovered', 'alert', 'flapping_started'])
    for (let at = 1200; at < 2400; at += 60) monitor.down(at)
    expect(monitor.kinds().slice(6)).toEqual(['flapping_stopped'])
    for (let at = 2400; at < 2600; at += 60) monitor.up(at)
    expect(monitor.kinds().slice(7)).toEqual(['recovered'])
  })

  test('reports the recovery of an earlier alert when it stops', () => {
    const monitor = watched({ ...rules, confirm: 1, recover: 1 })
    monitor.up(0)
    for (let at = 60; at < 1200; at += 60) monitor.was(at % 180 === 60 ? 'up' : at % 180 === 120 ? 'down' : 'degraded', at)
    for (let at = 1200; at < 3600; at += 60) monitor.up(at)
    const { length } = monitor.kinds().filter(kind => kind === 'recovered')
    expect(monitor.kinds().filter(kind => kind === 'alert')).toHaveLength(length)
    expect(monitor.kinds().at(-1)).toBe('recovered')
    expect(monitor.state.flapping).toBe(false)
  })
})
