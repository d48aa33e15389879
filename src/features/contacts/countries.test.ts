import { expect, test } from 'bun:test'
import { iso31661 } from 'iso-3166'
import { countryCodes, isCountryCode } from './countries'

test('the country codes are the assigned ones of ISO 3166-1', () => {
  const assigned = iso31661.filter(one => one.state === 'assigned').map(one => one.alpha2)
  expect([...countryCodes]).toEqual(assigned.sort())
  expect(isCountryCode('FR')).toBe(true)
  // Reserved, user-assigned, and lowercase codes are none.
  for (const code of ['UK', 'EU', 'XK', 'ZZ', 'fr', '']) expect([code, isCountryCode(code)]).toEqual([code, false])
})
