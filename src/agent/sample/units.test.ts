import { expect, test } from 'bun:test'
import { combinedUnits, parseFailed, parseShown } from './units'

const unit = (name: string, state: string, sub: string, watched: boolean) => ({ name, state, sub_state: sub, watched })

test('failed units', () => {
  const output = `nginx.service           loaded failed failed A high performance web server
dev-disk-by\\x2dlabel.swap loaded failed failed "a"
● old.service            loaded failed failed Old
`
  expect(parseFailed(output)).toEqual([
    unit('nginx.service', 'failed', 'failed', false),
    unit('dev-disk-by\\x2dlabel.swap', 'failed', 'failed', false),
    unit('old.service', 'failed', 'failed', false),
  ])
  expect([parseFailed(''), parseFailed('\n\n'), parseFailed('a b c')]).toEqual([[], [], []])
})

test('watched units have the names that were asked for', () => {
  const output =
    'LoadState=loaded\nActiveState=active\nSubState=running\n\nLoadState=not-found\nActiveState=inactive\nSubState=dead\n\nLoadState=loaded\nActiveState=failed\nSubState=failed\n'
  const watched = parseShown(output, ['nginx', 'gone.service', 'backup.timer'])
  expect(watched).toEqual([
    unit('nginx', 'active', 'running', true),
    unit('gone.service', 'not-found', 'dead', true),
    unit('backup.timer', 'failed', 'failed', true),
  ])
  expect(parseShown('', ['nginx'])).toEqual([])
  const other = unit('other.service', 'failed', 'failed', false)
  expect(
    combinedUnits(watched, [
      other,
      unit('backup.timer', 'failed', 'failed', false),
      unit('nginx.service', 'failed', 'failed', false),
    ]),
  ).toEqual([...watched, other])
})
