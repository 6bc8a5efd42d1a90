/** A plugin's page: its title, and the frame that isolates it. */
import { effect } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { navigate, route, type ViewProps } from '../browser/router.ts'
import { useTitle } from '../browser/title.ts'
import { Button } from '../parts/button.tsx'
import { type Host, openHost, readerNow } from '../parts/plugin-host.ts'
import { Empty } from '../parts/states.tsx'
import { under } from '../server/base.ts'
import type { PluginPage } from '../server/records.ts'
import { pluginPages } from '../stores/plugin-pages.ts'
import { theme } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'

export default function PluginView({ params }: ViewProps) {
  const page = pluginPages.value?.find(({ plugin }) => plugin === params['plugin'])
  useTitle(page?.title)
  if (!pluginPages.value) return null
  if (!page) return <Empty isWhole title={t('app.notFound')} />
  return (
    <div class="plugin-view">
      <h1>{page.title}</h1>
      <Guest key={page.plugin} page={page} />
    </div>
  )
}

type Trouble = { kind: 'failed'; message: string } | { kind: 'stuck' | 'flooded' | 'closed' }

function Guest({ page }: { page: PluginPage }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [attempt, setAttempt] = useState(1)
  const [height, setHeight] = useState(0)
  const [trouble, setTrouble] = useState<Trouble | undefined>()
  const isOpen = trouble?.kind !== 'closed' && trouble?.kind !== 'flooded'

  useEffect(() => {
    if (!isOpen) return
    const host = openHost({
      frame: frame.current!,
      page,
      begin: () => ({
        reader: readerNow(),
        query: queryOf(),
      }),
      navigate,
      grow: setHeight,
      failed: (message) => setTrouble({ kind: 'failed', message }),
      stuck: (isStuck) => setTrouble(isStuck ? { kind: 'stuck' } : undefined),
      flooded: () => setTrouble({ kind: 'flooded' }),
    })
    const end = informOfChanges(host)
    return () => (end(), host.close())
  }, [attempt, isOpen])

  const again = () => {
    setTrouble(undefined)
    setAttempt(attempt + 1)
  }
  return (
    <>
      {trouble && (
        <div class="notice error plugin-trouble" role="alert">
          <p>{sentence(trouble)}</p>
          <Button onClick={again}>{t('plugin.again')}</Button>
          {isOpen && <Button onClick={() => setTrouble({ kind: 'closed' })}>{t('action.close')}</Button>}
        </div>
      )}
      {isOpen && (
        <iframe
          key={attempt}
          ref={frame}
          title={page.title}
          sandbox="allow-scripts allow-forms"
          src={under(`/plugin-page/${page.plugin}/`)}
          style={{ height: `${height}px` }}
        />
      )}
    </>
  )
}

const queryOf = (): Record<string, string> => Object.fromEntries(route.peek().query)

/**
 * Tells the frame about changes of the surrounding page while it is open.
 * @returns a function that stops
 */
function informOfChanges(host: Host): () => void {
  const ends = [
    effect(() => host.tell({ kind: 'theme', theme: theme.value })),
    effect(() => host.tell({ kind: 'query', query: Object.fromEntries(route.value.query) })),
  ]
  return () => {
    for (const end of ends) end()
  }
}

function sentence(trouble: Trouble): string {
  if (trouble.kind === 'failed') return t('plugin.failed', { message: trouble.message })
  return t(`plugin.${trouble.kind}`)
}
