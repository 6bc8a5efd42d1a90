/** Lists a channel's tab page by page; if the child process is lost, the listing is reopened at its position. */
import { isMissingTab } from './ask-failure.ts'
import type { ChildAskOptions } from './child.ts'
import { toListEntry } from './metadata.ts'
import type { OpenListing } from './shared-child.ts'
import type { AskOptions, ListEntry, VideoType } from './types.ts'
import { checkId, ofMetadata, type YtDlp } from './ytdlp.ts'

const LISTING_MS_PER_SKIPPED = 20

/**
 * Most readers stop early, at the first known video, so the first pages are small; later ones cover five pages of the
 * platform.
 */
const pageSizeAfter = (delivered: number): number => (delivered < 300 ? 30 : 150)

export async function* listTab(
  channelId: string,
  tab: VideoType,
  options: AskOptions,
  { ask, shared, log }: YtDlp,
): AsyncGenerator<ListEntry[]> {
  checkId(channelId, 'channel')
  let open: OpenListing | undefined
  let delivered = 0
  let lastSize = 0
  const openAgain = (child: ChildAskOptions) => {
    // After an interruption the last page is repeated, because new videos shift the rest.
    const skip = delivered - lastSize
    return shared.openListing(channelId, tab, skip, {
      ...child,
      quietMs: child.quietMs + skip * LISTING_MS_PER_SKIPPED,
    })
  }
  const nextPage = async (child: ChildAskOptions) => {
    for (;;) {
      open ??= await openAgain(child)
      const reading = open
      open = undefined // lost, unless a page arrives
      const page = await shared.nextPage(reading, pageSizeAfter(delivered), child)
      if (!page) continue
      if (!page.isEnd) open = reading
      return page
    }
  }
  try {
    for (;;) {
      const page = await ask(ofMetadata(channelId), options, nextPage)
      lastSize = page.entries.length
      delivered += lastSize
      const entries = page.entries.flatMap((entry) => toListEntry(entry, tab) ?? [])
      if (entries.length > 0) yield entries
      if (page.isEnd) return
    }
  } catch (error) {
    if (!isMissingTab(error)) throw error
  } finally {
    if (open)
      await shared
        .closeListing(open)
        .catch((error: unknown) => log.warn({ err: error }, 'a listing could not be closed'))
  }
}
