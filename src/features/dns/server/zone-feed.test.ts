import { expect, test } from 'bun:test'
import { openLog } from '../../../core/log'
import type { ServedZone } from './served-zone'
import { ZoneFeed, type ZoneChange, type ZoneSource } from './zone-feed'

const zone = (name: string): ServedZone => ({ name, rrsets: [] })

/** Zones in memory, and what was told to the name server. */
function scene() {
  const zones = new Map<string, ServedZone>()
  const changes = new Map<string, ZoneChange>()
  let number = 0
  let rightsNumber = 0
  let broken = false
  let onPut = (_name: string): void => {}
  const told: string[] = []
  const source: ZoneSource = {
    lastChange: async () => number,
    list: async () => [...zones.keys()].map(id => ({ id })),
    async changesAfter(after) {
      if (broken) throw new Error('no database')
      return [...changes.values()].filter(one => one.number > after).sort((a, b) => a.number - b.number)
    },
    read: async id => zones.get(id) ?? null,
    readChanges: async (id, after) => (zones.has(id) ? zone(`${zones.get(id)!.name} after ${after}`) : null),
    rightsNumber: async () => rightsNumber,
    rights: async () => ({ keys: [], zones: [] }),
  }
  const server = {
    async put({ name }: ServedZone) {
      told.push(`put ${name}`)
      onPut(name)
    },
    change: ({ name }: ServedZone) => void told.push(`change ${name}`),
    remove: (name: string) => void told.push(`remove ${name}`),
    complete: () => void told.push('complete'),
    grant: () => void told.push('grant'),
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
    told: (all = false) => told.splice(0).filter(one => all || one !== 'grant'),
    regrant: () => void rightsNumber++,
    fail: (now: boolean) => (broken = now),
    onPut: (then: typeof onPut) => (onPut = then),
  }
}

test('gives all zones once, and then what has changed', async () => {
  const { feed, set, told } = scene()
  set('1', zone('a.'))
  set('2', zone('b.'))
  await feed.look()
  expect(told()).toEqual(['put a.', 'put b.', 'complete'])
  await feed.look()
  expect(told()).toEqual([])
  set('2', zone('b.'))
  set('1', null, 'a.')
  await feed.look()
  expect(told()).toEqual(['put b.', 'remove a.'])
})

test('tells who may transfer before it tells zones, and again whenever that changed', async () => {
  const { feed, set, told, regrant } = scene()
  set('1', zone('a.'))
  await feed.look()
  expect(told(true)).toEqual(['grant', 'put a.', 'complete'])
  regrant()
  set('1', zone('a.'))
  await feed.look()
  expect(told(true)).toEqual(['grant', 'put a.'])
  await feed.look()
  expect(told(true)).toEqual([])
  await feed.refill()
  expect(told(true)).toEqual(['grant', 'put a.', 'complete'])
})

test('gives the changed sets alone where that is enough', async () => {
  const { feed, set, told } = scene()
  set('1', zone('a.'))
  await feed.look()
  set('1', zone('a.'), 'a.', false)
  await feed.look()
  expect(told().slice(-1)).toEqual(['change a. after 1'])
  set('1', zone('a.'))
  set('1', zone('a.'), 'a.', false)
  await feed.look()
  expect(told()).toEqual(['put a.'])
  set('1', null, 'a.')
  await feed.look()
  set('1', zone('a.'), 'a.', false)
  await feed.look()
  expect(told()).toEqual(['remove a.', 'put a.'])
})

test('tells all that changed in a zone, whatever changed in others between', async () => {
  const { feed, set, told } = scene()
  set('1', zone('a.'))
  set('2', zone('b.'))
  await feed.look()
  told()
  set('1', zone('a.'), 'a.', false)
  set('2', zone('b.'), 'b.', false)
  set('1', zone('a.'), 'a.', false)
  await feed.look()
  expect(told()).toEqual(['change b. after 2', 'change a. after 2'])
  set('1', zone('a.'))
  set('2', zone('b.'), 'b.', false)
  set('1', zone('a.'), 'a.', false)
  await feed.look()
  expect(told()).toEqual(['change b. after 4', 'put a.'])
})

test('a server that begins anew while it is filled is complete when it has all zones', async () => {
  const { feed, set, told, onPut } = scene()
  for (const name of ['a.', 'b.', 'c.']) set(name, zone(name))
  onPut(name => {
    if (name !== 'b.') return
    onPut(() => {})
    void feed.refill()
  })
  await feed.look()
  expect(told()).toEqual(['put a.', 'put b.', 'put a.', 'put b.', 'put c.', 'complete'])
})

test('a zone that was made again under its name stays', async () => {
  const { feed, set, told } = scene()
  set('1', zone('a.'))
  await feed.look()
  set('1', null, 'a.')
  set('2', zone('a.'))
  await feed.look()
  expect(told().slice(-2)).toEqual(['remove a.', 'put a.'])
})

test('gives everything again to a server that begins anew', async () => {
  const { feed, set, told } = scene()
  set('1', zone('a.'))
  await feed.look()
  told()
  await feed.refill()
  expect(told()).toEqual(['put a.', 'complete'])
})

test('goes on where it was when the source failed', async () => {
  const { feed, set, told, fail } = scene()
  fail(true)
  set('1', zone('a.'))
  await feed.look()
  expect(told()).toEqual(['put a.', 'complete'])
  set('1', zone('a.'))
  await feed.look()
  expect(told()).toEqual([])
  fail(false)
  await feed.look()
  expect(told()).toEqual(['put a.'])
})

test('does nothing more once it is stopped', async () => {
  const { feed, set, told } = scene()
  await feed.stop()
  set('1', zone('a.'))
  await feed.look()
  expect(told()).toEqual([])
})
