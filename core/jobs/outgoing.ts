/** The external addresses that are notified of the runs of a task (contract 5.11, 8.5). */
import { errors } from '../base/error.ts'
import { say } from '../base/say.ts'
import type { ScheduleRows } from '../ledger/schedules.ts'
import type { JobParts } from './task-definition.ts'

export interface Outgoing {
  /** By task. */
  outgoing(): Record<string, { urls: string[]; title: string }>
  /** @throws bad_request: no notifications of this task, or a malformed URL; conflict: too many URLs */
  addOutgoing(task: string, url: string): Promise<void>
  /** Without `url` removes all URLs of the task. @throws not_found */
  removeOutgoing(task: string, url?: string): Promise<void>
}

const LONGEST_URL = 2000
const MOST_URLS = 50
const OUTGOING_URL = /^(?:[a-z][a-z0-9+.-]*:\/\/|mailto:)[^\s\p{Cc}]+$/iu

export const openOutgoing = ({ ledger, tasks }: JobParts, rows: ScheduleRows): Outgoing => ({
  outgoing() {
    const found: ReturnType<Outgoing['outgoing']> = {}
    for (const { task, url } of rows.urls()) {
      const title = tasks.get(task)?.title
      if (title !== undefined) (found[task] ??= { urls: [], title }).urls.push(url)
    }
    return found
  },

  async addOutgoing(name, url) {
    if (!tasks.get(name)?.outgoing) throw errors.badRequest(say`${{ name }} does not send notifications`)
    if (url.length > LONGEST_URL || !OUTGOING_URL.test(url))
      throw errors.badRequest('The URL must begin with a scheme such as https:// or mailto: and have no spaces')
    await ledger.write(() => {
      rows.addUrl(name, url)
      if (rows.countUrls(name) > MOST_URLS)
        throw errors.conflict(say`${{ name }} has ${{ most: MOST_URLS }} URLs already; remove one first`)
    })
  },

  async removeOutgoing(name, url) {
    const gone = await ledger.write(() => rows.removeUrls(name, url))
    if (gone === 0) throw errors.notFound('schedule notification', name)
  },
})
