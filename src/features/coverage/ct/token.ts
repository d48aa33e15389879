import type { Place } from '../../../core/secrets'

/** Where the API key of a workspace is stored. */
export const ctTokenPlace = (workspaceId: string): Place => ({
  ...{ table: 'certificate_settings', column: 'ct_token_sealed', row: workspaceId, workspaceId },
})
