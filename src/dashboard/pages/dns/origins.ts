import type { ChangesetView } from '../../../features/dns/history/shapes'

/** Where changes of a zone come from. */
export const originLabels: Record<ChangesetView['origin'], string> = {
  api: 'API',
  dashboard: 'Dashboard',
  template: 'Template',
  import: 'Import',
  dynamic: 'Dynamic',
  external: 'External',
}
