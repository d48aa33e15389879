/** Woken when a monitor was made, edited, paused, resumed, begun anew or deleted here. */
export const monitoringTopic = 'monitoring'
