import { expect, test } from 'bun:test'
import { openLog } from '../../../core/log'
import type { ServedZone } from './served-zone'
import { ZoneFeed, type ZoneChange, type ZoneSource } from './zone-feed'

const zone = (name: string): ServedZone => ({ name, rrsets: [] })

/** Zones in memory, and what was sent to the name server. */
function scene() {
  const zones = new Map<string, ServedZone>()
  const changes = new Map<string, ZoneChange>()
  let number = 0
  let rightsVersion = 0
  let broken = false
  let rrsetsPerChange = 0
  let onPut = (_name: string): void => {}
  const sent: string[] = []
  const source: ZoneSource = {
    lastChange: async () => number,
    list: async () => [...zones.keys()].map(id => ({ id })),
    async changesAfter(after) {
      if (broken) throw new Error('no database')
      return [...changes.values()].filter(one => one.number > after).sort((a, b) => a.number - b.number)
    },
    read: async id => zones.get(id) ?? null,
    readChanges: async (id, after) =>
      zones.has(id) ? { ...zone(`${zones.get(id)!.name} after ${after}`), rrsets: Array(rrsetsPerChange) } : null,
    rightsVersion: async () => rightsVersion,
    rights: async () => ({ keys: [], zones: [] }),
  }
  const server = {
    async put({ name }: ServedZone) {
      sent.push(`put ${name}`)
      onPut(name)
    },
    change: ({ name }: ServedZone) => void sent.push(`change ${name}`),
    remove: (name: string, hidden?: boolean) => void sent.push(`remove ${hidden ? 'hidden ' : ''}${name}`),
    complete: () => void sent.push('complete'),
    grant: () => void sent.push('grant'),
  }
  const set = (id: string, value: ServedZone | null, name = value!.name, whole = true) => {
    if (value) zones.set(id, value)
    else zones.delete(id)
    number++
    changes.set(id, { number, id, name, wholeNumber: whole ? number : (changes.get(id)?.wholeNumber ?? number) })
  }
  const feed = new ZoneFeed(source, server, openLog('silent'))
  return {
    feed,
    set,
    sent: (all = false) => sent.splice(0).filter(one => all || one !== 'grant'),
    regrant: () => void rightsVersion++,
    changing: (rrsets: number) => (rrsetsPerChange = rrsets),
    fail: (now: boolean) => (broken = now),
    onPut: (then: typeof onPut) => (onPut = then),
  }
}

test('sends all zones once, then changes', async () => {
  const { feed, set, sent } = scene()
  set('1', zone('a.'))
  set('2', zone('b.'))
  await feed.poll()
  expect(sent()).toEqual(['put a.', 'put b.', 'complete'])
  await feed.poll()
  expect(sent()).toEqual([])
  set('2', zone('b.'))
  set('1', null, 'a.')
  await feed.poll()
  expect(sent()).toEqual(['put b.', 'remove a.'])
})

test('sends transfer rights before zones, and again when they change', async () => {
  const { feed, set, sent, regrant } = scene()
  set('1', zone('a.'))
  await feed.poll()
  expect(sent(true)).toEqual(['grant', 'put a.', 'complete'])
  regrant()
  set('1', zone('a.'))
  await feed.poll()
  expect(sent(true)).toEqual(['grant', 'put a.'])
  await feed.poll()
  expect(sent(true)).toEqual([])
  await feed.refill()
  expect(sent(true)).toEqual(['grant', 'put a.', 'complete'])
})

test('sends only the changed RRsets if possible', async () => {
  const { feed, set, sent } = scene()
  set('1', zone('a.'))
  await feed.poll()
  set('1', zone('a.'), 'a.', false)
  await feed.poll()
  expect(sent().slice(-1)).toEqual(['change a. after 1'])
  set('1', zone('a.'))
  set('1', zone('a.'), 'a.', false)
  await feed.poll()
  expect(sent()).toEqual(['put a.'])
  set('1', null, 'a.')
  await feed.poll()
  set('1', zone('a.'), 'a.', false)
  await feed.poll()
  expect(sent()).toEqual(['remove a.', 'put a.'])
})

test('sends all changes of a zone, even with changes of other zones in between', async () => {
  const { feed, set, sent } = scene()
  set('1', zone('a.'))
  set('2', zone('b.'))
  await feed.poll()
  sent()
  set('1', zone('a.'), 'a.', false)
  set('2', zone('b.'), 'b.', false)
  set('1', zone('a.'), 'a.', false)
  await feed.poll()
  expect(sent()).toEqual(['change b. after 2', 'change a. after 2'])
  set('1', zone('a.'))
  set('2', zone('b.'), 'b.', false)
  set('1', zone('a.'), 'a.', false)
  await feed.poll()
  expect(sent()).toEqual(['change b. after 4', 'put a.'])
})

test('a server that restarts while it is being filled is complete when it has all zones', async () => {
  const { feed, set, sent, onPut } = scene()
  for (const name of ['a.', 'b.', 'c.']) set(name, zone(name))
  onPut(name => {
    if (name !== 'b.') return
    onPut(() => {})
    void feed.refill()
  })
  await feed.poll()
  expect(sent()).toEqual(['put a.', 'put b.', 'put a.', 'put b.', 'put c.', 'complete'])
})

test('a zone that was recreated under its name stays', async () => {
  const { feed, set, sent } = scene()
  set('1', zone('a.'))
  await feed.poll()
  set('1', null, 'a.')
  set('2', zone('a.'))
  await feed.poll()
  expect(sent().slice(-2)).toEqual(['remove a.', 'put a.'])
})

test('sends everything again to a restarted server', async () => {
  const { feed, set, sent } = scene()
  set('1', zone('a.'))
  await feed.poll()
  sent()
  await feed.refill()
  expect(sent()).toEqual(['put a.', 'complete'])
})

test('removes zones that were deleted before everything was sent again', async () => {
  const { feed, set, sent, onPut } = scene()
  set('1', zone('a.'))
  set('2', zone('b.'))
  set('3', { ...zone('c.'), hidden: true })
  await feed.poll()
  sent()
  set('1', null, 'a.')
  set('2', null, 'b.')
  set('3', null, 'c.')
  set('4', zone('b.'))
  set('5', zone('c.'))
  onPut(() => {
    onPut(() => {})
    void feed.refill()
  })
  await feed.refill()
  expect(sent()).toEqual(['put b.', 'put b.', 'put c.', 'remove a.', 'remove hidden c.', 'complete'])
  await feed.refill()
  expect(sent()).toEqual(['put b.', 'put c.', 'complete'])
})

test('continues after the source failed', async () => {
  const { feed, set, sent, fail } = scene()
  fail(true)
  set('1', zone('a.'))
  await feed.poll()
  expect(sent()).toEqual(['put a.', 'complete'])
  set('1', zone('a.'))
  await feed.poll()
  expect(sent()).toEqual([])
  fail(false)
  await feed.poll()
  expect(sent()).toEqual(['put a.'])
})

test('does nothing after it is stopped', async () => {
  const { feed, set, sent } = scene()
  await feed.stop()
  set('1', zone('a.'))
  await feed.poll()
  expect(sent()).toEqual([])
})

test('sends a zone as a whole again after many changed RRsets', async () => {
  const { feed, set, sent, changing } = scene()
  set('1', zone('a.'))
  await feed.poll()
  changing(5000)
  for (let n = 0; n < 4; n++) {
    set('1', zone('a.'), 'a.', false)
    await feed.poll()
  }
  expect(sent().map(one => one.split(' ')[0]!)).toEqual(['put', 'complete', 'change', 'change', 'put', 'change'])
})
