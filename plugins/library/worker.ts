/** The library's child process for reading the folders of the library and the import folder. */
import { answersOfFilms, serve } from '../film-kit/serve.ts'

serve(answersOfFilms())
