/** Suggestions for an empty search: the last searches, and the channels of the newest videos. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { get } from '../../server/api.ts'
import type { Page, Video } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { dropSearches, recentSearches } from '../../stores/recent-searches.ts'
import { t } from '../../texts/lookup.ts'

const MOST_SUGGESTED = 8

/** @param onChoose  called with the text of a search */
export function Offers({ onChoose }: { onChoose: (text: string) => void }) {
  const [recent, setRecent] = useState(recentSearches)
  const { now } = useLoad('search/suggested', suggested)
  return (
    <>
      {recent.length > 0 && (
        <Offer title={t('search.recent')} texts={recent} onChoose={onChoose}>
          <button
            type="button"
            class="link"
            onClick={() => {
              dropSearches()
              setRecent([])
            }}
          >
            {t('search.recent.clear')}
          </button>
        </Offer>
      )}
      <Offer title={t('search.suggested')} texts={now.value.value ?? []} onChoose={onChoose} />
    </>
  )
}

/** The channels of the newest videos. */
async function suggested(signal: AbortSignal): Promise<string[]> {
  const { data } = await get<Page<Video>>('/api/video/', { sort: 'downloaded' }, signal)
  const names = data.map(({ channel }) => channel.channel_name).filter((name) => name !== '')
  return [...new Set(names)].slice(0, MOST_SUGGESTED)
}

interface OfferProps {
  title: string
  texts: readonly string[]
  onChoose: (text: string) => void
  children?: ComponentChildren
}

function Offer({ title, texts, onChoose, children }: OfferProps) {
  if (texts.length === 0) return null
  return (
    <section class="search-offer">
      <h2>
        {title} {children}
      </h2>
      <ul>
        {texts.map((text) => (
          <li key={text}>
            <button type="button" class="chip" dir="auto" onClick={() => onChoose(text)}>
              <span class="chip-name">{text}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
