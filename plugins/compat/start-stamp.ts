/** What tells v0.5's page that the server has started anew: then it loads itself again. */
import { type App, epochSeconds } from 'archivolt'

export const startStamp = ({ clock }: Pick<App, 'clock'>): Record<string, string> => ({
  'X-Start-Timestamp': String(epochSeconds(clock)),
})
