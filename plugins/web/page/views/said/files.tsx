/** Saves the clips as one file: starts the work on the server, shows the progress, and offers finished files. */
import { FileVideo, X } from 'lucide'
import { useEffect } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { get, post, remove } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { SaidFile } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { toBytes, toPercent, toSpan } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'

const PATH = '/api/said/file/'
const ASK_MS = 1500

export function Files({ text }: { text: string }) {
  const load = useLoad('said/files', (signal) => get<SaidFile[]>(PATH, {}, signal))
  const files = load.now.value.value ?? []
  const isMaking = files.some(({ state }) => state === 'making')
  useEffect(() => {
    if (!isMaking) return
    const timer = setInterval(() => void (document.hidden || load.reload()), ASK_MS)
    return () => clearInterval(timer)
  }, [isMaking])
  const make = async () => {
    await post(PATH, { query: text })
    await load.reload()
  }
  return (
    <section class="said-files">
      <h2>{t('clips.files')}</h2>
      <p class="hint">{t('clips.files.hint')}</p>
      <Button
        icon={FileVideo}
        isBusy={files.some(({ query, state }) => query === text && state === 'making')}
        onClick={make}
      >
        {t('clips.files.make')}
      </Button>
      {files.length > 0 && (
        <ul class="settings-rows" aria-label={t('clips.files')}>
          {files.map((file) => (
            <Row key={file.id} file={file} reload={load.reload} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Row({ file, reload }: { file: SaidFile; reload: () => Promise<void> }) {
  const { id, query, state, progress, clips, seconds, bytes, reason, said } = file
  const drop = async () => {
    await remove(`${PATH}${id}/`)
    await reload()
  }
  return (
    <li>
      <div class="row-words">
        <strong dir="auto">{query.replace(/^full:/i, '')}</strong>
        <p class="meta">
          <span>{t('clips.count', { count: clips })}</span>
          <span>{toSpan(seconds)}</span>
          {state === 'there' && <span>{toBytes(bytes)}</span>}
          {state === 'making' && <span>{progress === 0 ? t('clips.files.waits') : toPercent(progress)}</span>}
        </p>
        {state === 'making' && (
          <progress value={progress} max={1} aria-label={t('clips.files.progress', { text: query })} />
        )}
        {state === 'failed' && <p class="error">{said ? inWords(reason, said) : reason}</p>}
      </div>
      {state === 'there' && (
        <a class="button plain" href={under(`${PATH}${id}/`)} download>
          {t('clips.files.download')}
        </a>
      )}
      {state !== 'failed' && (
        <Button kind="quiet" icon={X} of={query} onClick={drop}>
          {t(state === 'making' ? 'clips.files.stop' : 'clips.files.remove')}
        </Button>
      )}
    </li>
  )
}
