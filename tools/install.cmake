# cmake --install build/release [--prefix PREFIX]: the programs, their manual pages, what shells complete, the systemd unit
# and the documents. Everything is below PREFIX (/usr/local), and nothing of the source tree is needed to run it.
include(GNUInstallDirs)
set(LYCOSA_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "where zsh looks for completions")
set(LYCOSA_UNIT_DIR lib/systemd/system CACHE STRING "where systemd looks for units")
set(LYCOSA_SYSUSERS_DIR lib/sysusers.d CACHE STRING "where systemd looks for users of services")

install(TARGETS lycosa websim)
install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(FILES ${pages}/lycosa.ini.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
foreach(program lycosa websim)
    install(FILES ${pages}/${program}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${program})
    install(FILES ${pages}/_${program} DESTINATION ${LYCOSA_ZSH_DIR})
    install(FILES ${pages}/${program}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Not with the documents: a package compresses these.
install(DIRECTORY grafana DESTINATION ${CMAKE_INSTALL_DATADIR}/lycosa)

# The unit names the program by its path, which is known only now: --prefix may say another one than the build.
install(CODE "set(bindir \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    configure_file(\"${CMAKE_CURRENT_SOURCE_DIR}/systemd/lycosa@.service.in\" \"${pages}/lycosa@.service\" @ONLY)")
install(FILES ${pages}/lycosa@.service DESTINATION ${LYCOSA_UNIT_DIR})

install(FILES systemd/lycosa.sysusers DESTINATION ${LYCOSA_SYSUSERS_DIR} RENAME lycosa.conf)

# A library that Debian 12 lacks comes along, in a folder of our own that the programs know by their place.
if(picohttpparser_LIBRARY MATCHES "^${LYCOSA_DEPS}/")
    file(REAL_PATH ${picohttpparser_LIBRARY} library)
    install(FILES ${library} DESTINATION lib/lycosa RENAME libpicohttpparser.so.1)
    set_target_properties(lycosa websim PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/lycosa")
endif()
