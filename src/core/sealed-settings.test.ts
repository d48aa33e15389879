import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { patchSettings, destinationChanged, secretsOf, type SettingsDefinition } from './sealed-settings'

const form: SettingsDefinition = {
  settings: Type.Object({
    url: Type.String(),
    auth: Type.Optional(Type.Object({ user: Type.String(), password: Type.Optional(Type.String()) })),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  }),
  secrets: ['auth/password', 'headers/*'],
  destination: ['url', 'auth/user'],
}
const stored = { url: 'https://a', auth: { user: 'u', password: 'p' }, headers: { 'X-A': '1', 'a/b~c': '2' } }

test('secrets are found at any depth, with their paths', () => {
  expect(secretsOf(form, stored)).toEqual({ 'auth/password': 'p', 'headers/X-A': '1', 'headers/a~1b~0c': '2' })
  expect(secretsOf(form, { url: 'https://a', auth: 'none', headers: [] })).toEqual({})
})

test('a changed destination is detected at any depth', () => {
  expect(destinationChanged(form, stored, { ...stored, headers: {} })).toBe(false)
  expect(destinationChanged(form, stored, { ...stored, auth: { user: 'v' } })).toBe(true)
})

test('secrets omitted from an update stay, and are rejected if the destination changes', () => {
  expect(patchSettings(form, stored, { headers: { 'X-A': '3' } })).toEqual({ ...stored, headers: { 'X-A': '3', 'a/b~c': '2' } })
  let thrown: any
  try {
    patchSettings(form, stored, { url: 'https://b', headers: { 'X-A': '1', 'a/b~c': null } })
  } catch (error) {
    thrown = error
  }
  expect(thrown.extras.errors.map((one: { pointer: string }) => one.pointer)).toEqual(['#/settings/auth/password'])
  expect(patchSettings(form, stored, { url: 'https://b', auth: { password: 'q' }, headers: null })).toEqual({
    url: 'https://b',
    auth: { user: 'u', password: 'q' },
  })
})
