/** Woken when this hub creates, updates, pauses, resumes, resets, or deletes a monitor. */
export const monitoringTopic = 'monitoring'
