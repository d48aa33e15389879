import { expect, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTempFolder } from '../../test/support/command'
import { inputsOf, isCurrent } from './dashboard-inputs'

test('a dashboard is current until its files, the modules it imports, or the dependencies change', () =>
  inTempFolder(root => {
    const write = (path: string, text: string) => writeFileSync(join(root, path), text)
    for (const folder of ['src/dashboard/pages', 'src/core', 'node_modules/x']) mkdirSync(join(root, folder), { recursive: true })
    write('bun.lock', 'x 1')
    write('src/dashboard/main.ts', 'main')
    write('src/core/clock.ts', 'clock')
    write('src/core/hub.ts', 'hub')
    write('node_modules/x/index.js', 'x')
    const ids = ['src/dashboard/main.ts', 'src/core/clock.ts?raw', 'node_modules/x/index.js'].map(path => join(root, path))
    const built = inputsOf([...ids, '\0virtual'], root)
    expect(built.modules).toEqual(['src/core/clock.ts'])
    expect(isCurrent(built, root)).toBe(true)
    write('src/core/hub.ts', 'not imported')
    expect(isCurrent(built, root)).toBe(true)

    for (const [path, text] of [
      ['src/dashboard/main.ts', 'main'],
      ['src/core/clock.ts', 'clock'],
      ['bun.lock', 'x 1'],
    ] as const) {
      write(path, 'changed')
      expect(isCurrent(built, root)).toBe(false)
      write(path, text)
      expect(isCurrent(built, root)).toBe(true)
    }
    write('src/dashboard/pages/new.tsx', 'new')
    expect(isCurrent(built, root)).toBe(false)
    rmSync(join(root, 'src/dashboard/pages/new.tsx'))
    rmSync(join(root, 'src/core/clock.ts'))
    expect(isCurrent(built, root)).toBe(false)
  }))
