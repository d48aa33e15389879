import type { SnapshotView } from '../../../features/servers/snapshots/shapes'
import type { VolumeView } from '../../../features/servers/volumes/shapes'
import type { Tone } from '../../parts/status'

const tones: Readonly<Record<string, Tone>> = { available: 'ok', in_use: 'ok', error: 'bad', missing: 'bad' }

/** The tone of a state of a volume or snapshot. While it changes, it is busy. */
export const toneOfStorage = (state: string): Tone => tones[state] ?? 'busy'

export const snapshotStateTitles: Readonly<Record<SnapshotView['state'], string>> = {
  available: 'Available',
  creating: 'Creating',
  restoring: 'Restoring',
  deleting: 'Deleting',
  error: 'Error',
  missing: 'Missing',
}

export const volumeStateTitles: Readonly<Record<VolumeView['state'], string>> = {
  available: 'Available',
  in_use: 'In use',
  creating: 'Creating',
  attaching: 'Attaching',
  detaching: 'Detaching',
  resizing: 'Resizing',
  restoring: 'Restoring',
  deleting: 'Deleting',
  error: 'Error',
  missing: 'Missing',
}

export const storageOriginTitles = { made: 'Created here', found: 'Found in a cloud account' } as const
