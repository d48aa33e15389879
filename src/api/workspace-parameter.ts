import { Type } from '@sinclair/typebox'

/** The query parameter of routes with `workspaceInQuery`, which browsers request without headers of the dashboard. */
export const workspaceParameter = {
  workspace: Type.Optional(
    Type.String({
      pattern: '^ws_[0-7][0-9a-hjkmnp-tv-z]{25}$',
      'x-rule': 'must be a workspace ID.',
      description:
        'ID of the workspace, for clients that can’t send the Bailiwick-Workspace header, such as EventSource and links.',
      examples: ['ws_01jd8f3q7eeb9bv0w0r8c7hq2m'],
    }),
  ),
}
