import { afterEach, beforeEach, expect, test } from 'bun:test'
import { clearOpened, noteOpened, recentlyOpened, setOpenedBy } from './recently-opened'

const key = 'bailiwick.opened.usr_1.wsp_1'
let stored: Record<string, string>
const storage = {
  getItem: (name: string) => stored[name] ?? null,
  setItem: (name: string, value: string) => void (stored[name] = value),
}

beforeEach(() => {
  stored = {}
  Object.assign(globalThis, { localStorage: storage, location: { pathname: '/monitors/mon_1' } })
  setOpenedBy('usr_1', 'wsp_1')
})
afterEach(() => {
  Reflect.deleteProperty(globalThis, 'localStorage')
  Reflect.deleteProperty(globalThis, 'location')
})

test('an opened resource is listed, and those whose type no longer exists aren’t', () => {
  stored[key] = JSON.stringify([{ id: 'old_1', name: 'Old' }])
  noteOpened({ id: 'mon_1', name: 'Shop' })
  expect(recentlyOpened()).toEqual([{ id: 'mon_1', name: 'Shop' }])
})

test('a storage that is full or blocked only means that nothing is listed', () => {
  const refuse = () => {
    throw new Error('The quota has been exceeded.')
  }
  Object.assign(globalThis, { localStorage: { getItem: refuse, setItem: refuse } })
  noteOpened({ id: 'mon_1', name: 'Shop' })
  expect(recentlyOpened()).toEqual([])
  Object.defineProperty(globalThis, 'localStorage', { get: refuse, configurable: true })
  clearOpened()
})
