/** The library's reading child: reads the folders of the library and the import folder. */
import { answersOfFilms, serve } from '../film-kit/serve.ts'

serve(answersOfFilms())
