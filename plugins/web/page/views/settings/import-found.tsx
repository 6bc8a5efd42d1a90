/** Import: the libraries of other programs that were found on the server, to choose from. */
import { Search } from 'lucide'
import { Button } from '../../parts/button.tsx'
import { get } from '../../server/api.ts'
import type { FoundLibraries, Place } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { t } from '../../texts/lookup.ts'

interface FoundProps {
  /** Folders that are places already are not offered. */
  places: Place[]
  /** Adds the folder and scans it. */
  take: (path: string) => Promise<void>
}

export function FoundBelow({ places, take }: FoundProps) {
  const key = `settings/import/found ${places.map(({ id }) => id).join()}`
  const { now } = useLoad(key, (signal) => get<FoundLibraries>('/api/adoption/found/', {}, signal))
  const { state, value } = now.value
  if (state === 'loading') return <p class="option-line hint">{t('settings.import.found.searching')}</p>
  // Without the list, people can still enter the path of a folder.
  if (!value) return null
  const { found, complete, unread } = value
  return (
    <>
      {found.length > 0 && (
        <>
          <p class="option-line">{t('settings.import.found')}</p>
          <ul class="settings-rows" aria-label={t('settings.import.found')}>
            {found.map(({ path, title, films }) => (
              <li key={path}>
                <div class="row-words">
                  <strong>{title}</strong>
                  <p class="meta" dir="auto">
                    {path} ·{' '}
                    {t(complete ? 'settings.import.found.films' : 'settings.import.found.more', { count: films })}
                  </p>
                </div>
                <Button
                  icon={Search}
                  aria-label={t('settings.import.scanOf', { name: path })}
                  onClick={() => take(path)}
                >
                  {t('settings.import.scan')}
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
      {unread.map((path) => (
        <p class="option-line hint" key={path}>
          {t('settings.import.found.unread', { path })}
        </p>
      ))}
      {!complete && <p class="option-line hint">{t('settings.import.found.partly')}</p>}
    </>
  )
}
