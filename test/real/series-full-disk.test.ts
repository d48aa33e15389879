import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSeries } from '../../src/core/db/series'
import { isPostgres } from '../../src/core/db/dialect'
import { hourOf } from '../../src/core/db/series/store'
import { mostWaiting, recorderOf } from '../../src/features/monitors/series/recorder'
import { taken } from '../support/monitor-series'
import { world } from '../support/world'

const undo: (() => void)[] = []
afterEach(() => {
  for (const one of undo.splice(0).reverse()) one()
})

/** A disk of its own, in memory; null where this process may not mount one. */
function smallDisk(mebibytes: number): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-small-disk-'))
  const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder])
  if (exitCode !== 0) {
    rmdirSync(folder)
    return null
  }
  undo.push(() => {
    Bun.spawnSync(['umount', folder])
    rmdirSync(folder)
  })
  return folder
}
const mayMount = (() => {
  const folder = smallDisk(1)
  for (const one of undo.splice(0).reverse()) one()
  return folder !== null
})()

test.skipIf(isPostgres || !mayMount)(
  'on a full disk results wait in memory, the hub says so, and all are there once there is room',
  async () => {
    const w = await world()
    const { hub, clock, stranger } = w
    const disk = smallDisk(4)!
    hub.series = openSeries({ data: disk, databaseUrl: null, now: clock.now })
    const recorder = recorderOf(hub)
    const ballast = join(disk, 'ballast')
    try {
      recorder.take(taken(0, clock.now()))
      await recorder.flush()
      writeFileSync(ballast, Buffer.alloc(3 * 1024 * 1024))
      let n = 1
      for (; n < mostWaiting / 4 && recorder.trouble() === null; n += 2000) {
        for (let at = n; at < n + 2000; at++) recorder.take(taken(at % 1000, clock.now() + at))
        await recorder.flush()
      }
      expect(recorder.trouble()).toContain('disk')
      clock.advance(1000)
      expect((await stranger.call('GET', '/readyz')).body.checks.storage.status).toBe('failing')
      // What was acknowledged elsewhere is none the worse.
      expect((await w.acme.call('GET', '/v1/monitors')).status).toBe(200)
      rmSync(ballast)
      await recorder.flush()
      expect(recorder.trouble()).toBeNull()
      let kept = 0
      for await (const some of hub.series.beatsOf(hourOf(clock.now()), null)) kept += some.length
      expect(kept).toBe(n)
    } finally {
      await hub.series.close()
    }
  },
  60_000,
)
