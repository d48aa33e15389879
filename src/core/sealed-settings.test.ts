import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { editedSettings, isElsewhere, secretsOf, type SettingsForm } from './sealed-settings'

const form: SettingsForm = {
  settings: Type.Object({
    url: Type.String(),
    auth: Type.Optional(Type.Object({ user: Type.String(), password: Type.Optional(Type.String()) })),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  }),
  secrets: ['auth/password', 'headers/*'],
  destination: ['url', 'auth/user'],
}
const kept = { url: 'https://a', auth: { user: 'u', password: 'p' }, headers: { 'X-A': '1', 'a/b~c': '2' } }

test('secrets are found at any depth and told by the path of each', () => {
  expect(secretsOf(form, kept)).toEqual({ 'auth/password': 'p', 'headers/X-A': '1', 'headers/a~1b~0c': '2' })
  expect(secretsOf(form, { url: 'https://a', auth: 'none', headers: [] })).toEqual({})
})

test('a destination at any depth tells whether settings lead elsewhere', () => {
  expect(isElsewhere(form, kept, { ...kept, headers: {} })).toBe(false)
  expect(isElsewhere(form, kept, { ...kept, auth: { user: 'v' } })).toBe(true)
})

test('secrets that an edit does not name stay, and are refused where the settings lead elsewhere', () => {
  expect(editedSettings(form, kept, { headers: { 'X-A': '3' } })).toEqual({ ...kept, headers: { 'X-A': '3', 'a/b~c': '2' } })
  let thrown: any
  try {
    editedSettings(form, kept, { url: 'https://b', headers: { 'X-A': '1', 'a/b~c': null } })
  } catch (error) {
    thrown = error
  }
  expect(thrown.extras.errors.map((one: { pointer: string }) => one.pointer)).toEqual(['#/settings/auth/password'])
  expect(editedSettings(form, kept, { url: 'https://b', auth: { password: 'q' }, headers: null })).toEqual({
    url: 'https://b',
    auth: { user: 'u', password: 'q' },
  })
})
