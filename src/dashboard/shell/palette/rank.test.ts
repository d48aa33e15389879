import { expect, test } from 'bun:test'
import { closeness, rank } from './rank'

const titles = [
  'Monitors',
  'Create monitor',
  'Nightly backup',
  'www.example.com',
  'Übersicht',
  'Pause shop',
  'Ping key',
  '日本語モニター',
]
const found = (query: string) => rank(titles, query).map(at => titles[at])

test('names are found by words in any order, with a typo in each, by abbreviations, and without accents', () => {
  expect(found('montior')).toEqual(['Monitors', 'Create monitor'])
  expect(found('backup nightly')).toEqual(['Nightly backup'])
  expect(found('paues shpo')).toEqual(['Pause shop'])
  expect(found('crmon')).toEqual(['Create monitor'])
  expect(found('wwwex')).toEqual(['www.example.com'])
  expect(found('ubersicht')).toEqual(['Übersicht'])
  expect(found('日本')).toEqual(['日本語モニター'])
  expect(found('zzz')).toEqual([])
  expect(found('*')).toEqual([])
})

test('the same title is closest, then its start, and then starts of its words', () => {
  expect(['Tokens', 'tokens api', 'API tokens', 'Broken'].map(title => closeness(title, 'tokens'))).toEqual([0, 1, 2, 3])
})
