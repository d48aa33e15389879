import { afterEach, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { masterKeyFile } from '../../src/core/config'
import { isPostgres } from '../../src/core/db/dialect'
import { freeBytes } from '../../src/core/disk'
import { createBackup } from '../../src/hub/backup/create'
import { restoreBackup } from '../../src/hub/backup/restore'
import { canMount, smallDisk, unmountDisks } from '../support/small-disk'
import { world } from '../support/world'

afterEach(unmountDisks)

test.skipIf(isPostgres || !canMount)(
  'on a full disk, a backup and a restore fail with the reason, and leave nothing behind',
  async () => {
    const w = await world()
    const disk = smallDisk(8)!
    const ballast = join(disk, 'ballast')
    const backup = (logical: boolean) =>
      createBackup(w.hub.config, { folder: join(disk, 'backups'), logical, withSeries: false, report: () => {} })
    const { file } = await backup(true)
    const before = readdirSync(join(disk, 'backups'))
    const data = join(disk, 'data')
    mkdirSync(data)
    copyFileSync(masterKeyFile(w.hub.config), join(data, 'master.key'))
    const config = { ...w.hub.config, data, masterKeyFile: null }
    const restore = () => restoreBackup(config, { file, releaseDeliveries: false, report: () => {} })

    writeFileSync(ballast, Buffer.alloc((await freeBytes(disk)) - 40_000))
    for (const logical of [true, false])
      await expect(backup(logical)).rejects.toThrow(/^The disk of .*backups is full\. A backup temporarily needs/)
    expect(readdirSync(join(disk, 'backups'))).toEqual(before)
    await expect(restore()).rejects.toThrow(/^The disk of .*data is full\. Free up space/)
    expect(readdirSync(data).sort()).toEqual(['hub.lock', 'master.key'])

    rmSync(ballast)
    await restore()
  },
)
