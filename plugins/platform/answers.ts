/** Reports the platform's answers to later plugins (hook `platform.answered`), before the caller receives them. */
import { beyondView } from 'archivolt'
import type { App } from './app.ts'
import { failureOf } from './ask-failure.ts'
import type { Answer, AskOptions, Platform, Refusal } from './types.ts'

type Told = Pick<Platform, 'video' | 'channel' | 'playlist' | 'list' | 'download' | 'downloadBetter'>

export function withAnswers<Whole extends Told>(platform: Whole, hook: App['hook'] | undefined): Whole {
  if (!hook) return platform
  /** Runs outside of the caller's view, because the listeners compare with the whole archive. */
  const tell = (answer: Answer): Promise<void> =>
    beyondView(async () => {
      for (const hear of hook('platform.answered')) await hear(answer)
    })

  async function telling<Result>(
    about: Omit<Refusal, 'failure'>,
    asked: Promise<Result>,
    toAnswer: (result: Result) => Answer | undefined,
  ): Promise<Result> {
    let result: Result
    try {
      result = await asked
    } catch (error) {
      const failure = failureOf(error)
      if (failure && !failure.isDeferred) await tell({ ...about, failure })
      throw error
    }
    const answer = toAnswer(result)
    if (answer) await tell(answer)
    return result
  }

  const told: Told = {
    video: (id, options) =>
      telling({ kind: 'video', id }, platform.video(id, options), (metadata) => ({ kind: 'video', id, metadata })),
    // An unknown handle does not mean that a channel is gone: the report has the handle as its id.
    channel: (idOrHandle, options) =>
      telling({ kind: 'channel', id: idOrHandle }, platform.channel(idOrHandle, options), (metadata) => ({
        kind: 'channel',
        id: metadata.id,
        metadata,
      })),
    playlist: (id, options) =>
      telling({ kind: 'playlist', id }, platform.playlist(id, options), (metadata) =>
        // A partial list says nothing about the missing entries.
        options.most === undefined ? { kind: 'playlist', id, metadata } : undefined,
      ),
    async *list(channelId: string, tab, options: AskOptions) {
      for await (const entries of platform.list(channelId, tab, options)) {
        await tell({ kind: 'tab', id: channelId, entries })
        yield entries
      }
    },
    download: (id, wanted, options) =>
      telling({ kind: 'video', id }, platform.download(id, wanted, options), ({ metadata }) => ({
        ...{ kind: 'video', id, metadata, isDownload: true },
      })),
    downloadBetter: (id, wanted, options) =>
      telling({ kind: 'video', id }, platform.downloadBetter(id, wanted, options), ({ metadata }) => ({
        ...{ kind: 'video', id, metadata, isDownload: true },
      })),
  }
  return { ...platform, ...told }
}
