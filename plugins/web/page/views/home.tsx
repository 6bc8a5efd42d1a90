/** Home: all videos, newest first. */
import { Empty } from '../parts/states.tsx'
import { VideoList } from '../parts/video-list.tsx'
import { t } from '../texts.ts'

export default function Home() {
  return (
    <>
      <h1 class="unseen">{t('nav.home')}</h1>
      <VideoList label={t('nav.home')} path="/api/video/" query={{ sort: 'published', order: 'desc' }} byDay="desc" empty={<Empty title={t('home.empty')} />} />
    </>
  )
}
