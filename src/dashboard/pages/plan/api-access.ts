import type { PlanView } from '../../../features/plans/shapes'

/** What a plan allows in the API. */
export const apiAccessLabels: Record<PlanView['api_access'], string> = {
  none: 'No access',
  read: 'Read-only',
  full: 'Read and write',
}
