import { expect, test } from 'bun:test'
import { combinedUnits, parseFailed, parseShown } from './units'

const problems: string[] = []
const failed = (output: string) => parseFailed(output, sentence => problems.push(sentence))
const unit = (name: string, state: string, sub: string, watched: boolean) => ({ name, state, sub_state: sub, watched })

test('failed units', () => {
  const output =
    '[{"unit":"nginx.service","load":"loaded","active":"failed","sub":"failed","description":"nginx"},{"unit":"dev-disk-by\\\\x2dlabel.swap","load":"loaded","active":"failed","sub":"failed","description":"\\"a\\""}]'
  expect(failed(output)).toEqual([
    unit('nginx.service', 'failed', 'failed', false),
    unit('dev-disk-by\\x2dlabel.swap', 'failed', 'failed', false),
  ])
  expect([failed('[]'), failed('{}'), failed('[null, 5, {"unit":7}]')]).toEqual([[], [], []])
  expect(problems).toEqual([])
  expect(failed('UNIT LOAD ACTIVE\nnginx.service loaded failed\n')).toBeNull()
  expect(problems).toHaveLength(1)
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
