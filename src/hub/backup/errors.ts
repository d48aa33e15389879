/** A backup can't be made, read, or restored for a known reason. The message says what to do. */
export class BackupFailed extends Error {
  override name = 'BackupFailed'
}

/** A backup was truncated or changed, or the file is not a backup. */
export class BackupDamaged extends BackupFailed {
  override name = 'BackupDamaged'
  constructor(file: string, reason: string) {
    super(`${file} is damaged or not a backup: ${reason}.`)
  }
}
