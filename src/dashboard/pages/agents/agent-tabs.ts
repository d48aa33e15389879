import type { PagePath } from '../../pages'

/** The pages about agents. */
export const agentTabs: readonly PagePath[] = ['/agents', '/agents/enrolment-keys']
